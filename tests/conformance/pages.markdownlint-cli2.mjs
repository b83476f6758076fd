// Checks the lines, the headings and the targets of the links on every page of the repository.
import relativeLinks from "markdownlint-rule-relative-links";

export default {
  globs: ["**/*.md", "!target"],
  customRules: [relativeLinks],
  config: {
    "first-line-heading": false,
    // Tables and code blocks cannot be wrapped.
    "line-length": { line_length: 100, code_blocks: false, tables: false },
    "no-space-in-code": false,
    "relative-links": true,
  },
};
