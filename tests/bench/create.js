// The open loop: sends creates at a fixed rate, whether or not earlier creates have been answered.
//   k6 run … --env URL=… --env TOKEN=… --env FIRST_ID=… --env RATE=… --env SECONDS=… create.js
// Prints: creates, seconds, median ms, 99 % ms, failed requests.

import http from "k6/http";
import exec from "k6/execution";

const { URL, TOKEN, FIRST_ID, RATE, SECONDS } = __ENV;

const headers = { "Content-Type": "application/json", Authorization: `Bearer ${TOKEN}` };

export const options = {
  discardResponseBodies: true,
  summaryTrendStats: ["med", "p(99)"],
  scenarios: {
    creates: {
      executor: "constant-arrival-rate",
      rate: Number(RATE),
      duration: `${SECONDS}s`,
      preAllocatedVUs: 256,
    },
  },
};

export default function () {
  const id = Number(FIRST_ID) + exec.scenario.iterationInTest;
  const plant = { id, name: "Monstera deliciosa", tag: "indoor" };
  http.post(`${URL}/plants`, JSON.stringify(plant), { headers });
}

export function handleSummary({ metrics, state }) {
  const { http_reqs, http_req_duration, http_req_failed } = metrics;
  const { med, "p(99)": p99 } = http_req_duration.values;
  const seconds = state.testRunDurationMs / 1e3;
  const failed = http_req_failed.values.passes;
  return { stdout: `${http_reqs.values.count} ${seconds} ${med} ${p99} ${failed}\n` };
}
