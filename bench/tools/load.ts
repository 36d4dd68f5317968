import { BATCH_BODY, BATCH_ID, loadOf } from './batch.ts'

/**
 * A load generator that runs in a separate process: `bun bench/tools/load.ts URL TOKEN CONNECTIONS SECONDS`.
 * Connections remain open, and each has one request in progress. Each request is a batch of 10 events with a different
 * id. Prints a `Load` as JSON.
 */
const [address = '', token = '', connections = '32', seconds = '20'] = process.argv.slice(2)
const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' }
const latencies: number[] = []
let failures = 0
let sent = 0

async function sender(deadline: number): Promise<void> {
  while (performance.now() < deadline) {
    const batch = BATCH_BODY.replace(BATCH_ID, `${process.pid}-${sent++}-`.padEnd(BATCH_ID.length, 'x'))
    const sentAt = performance.now()
    const response = await fetch(address, { method: 'POST', headers, body: batch })
    await response.text()
    latencies.push(performance.now() - sentAt)
    if (response.status !== 202) failures++
  }
}

const startedAt = performance.now()
const deadline = startedAt + Number(seconds) * 1000
await Promise.all(Array.from({ length: Number(connections) }, () => sender(deadline)))
console.log(JSON.stringify(loadOf(latencies, failures, startedAt)))
