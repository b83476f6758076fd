-- Each connection sends the next create after the previous answer.
--   wrk … -s create.lua URL -- FIRST_ID TOKEN
-- Prints: creates, seconds, median ms, 99 % ms, failed requests.

function init(arguments)
  id = tonumber(arguments[1])
  wrk.method = "POST"
  wrk.headers["Content-Type"] = "application/json"
  wrk.headers["Authorization"] = "Bearer " .. arguments[2]
end

function request()
  local body = string.format('{"id":%d,"name":"Monstera deliciosa","tag":"indoor"}', id)
  id = id + 1
  return wrk.format(nil, nil, nil, body)
end

function done(summary, latency)
  local errors = summary.errors
  local failed = errors.connect + errors.read + errors.write + errors.timeout + errors.status
  io.write(string.format("%d %f %f %f %d\n", summary.requests, summary.duration / 1e6,
    latency:percentile(50) / 1e3, latency:percentile(99) / 1e3, failed))
end
