// Every page of the repository: its lines, its headings, and where its links lead.
import relativeLinks from "markdownlint-rule-relative-links";

export default {
  globs: ["**/*.md", "!target", "!xtask/chores/src/docs"],
  customRules: [relativeLinks],
  config: {
    "first-line-heading": false,
    // A table and a block of code cannot be wrapped.
    "line-length": { line_length: 100, code_blocks: false, tables: false },
    "no-space-in-code": false,
    "relative-links": true,
  },
};
