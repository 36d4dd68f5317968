import { expect, test } from 'bun:test'
import { BusyHosts } from './busy-hosts.ts'
import { HostDelay } from './host-delay.ts'

/**
 * Simulates hosts that return these responses for each URL in turn. The last response is repeated. `503:7` requires a
 * pause of 7 s.
 */
async function asked(addresses: readonly string[][]) {
  const pauses: number[] = []
  const why: string[] = []
  const patience = new BusyHosts({ rest: (_host, pauseMs) => void pauses.push(pauseMs) })
  const statuses: (number | null)[] = []
  for (const answers of addresses) {
    const left = [...answers]
    const ask = async () => {
      const [status, retryAfter = null] = (left.length > 1 ? (left.shift() ?? '') : (left[0] ?? '')).split(':')
      return { status: status === 'null' ? null : Number(status), retryAfter }
    }
    statuses.push((await patience.ask('shop.example', ask, (sentence) => why.push(sentence))).status)
    if (why.length > 0) break
  }
  return { statuses, pauses, why }
}

test.each<[string, string[][], Awaited<ReturnType<typeof asked>>]>([
  [
    'a host that responds',
    [['200'], ['404'], ['500'], ['null']],
    { statuses: [200, 404, 500, null], pauses: [], why: [] },
  ],
  ['a host that is busy once', [['429', '200']], { statuses: [200], pauses: [5000], why: [] }],
  ['a host that is busy twice', [['503', '429', '200']], { statuses: [200], pauses: [5000, 10_000], why: [] }],
  ['a host that requests a delay', [['429:7', '200']], { statuses: [200], pauses: [7000], why: [] }],
  ['a host that requests an unreadable delay', [['429:soon', '200']], { statuses: [200], pauses: [5000], why: [] }],
  [
    'a host that requests a delay until a past time',
    [['503:Mon, 05 Jan 2026 12:00:00 GMT', '200']],
    { statuses: [200], pauses: [0], why: [] },
  ],
  ['a page that is always busy', [['503:1'], ['200']], { statuses: [503, 200], pauses: [1000, 1000, 1000], why: [] }],
  [
    'a host that is busy twice, for different URLs',
    [
      ['429', '200'],
      ['429', '200'],
    ],
    { statuses: [200, 200], pauses: [5000, 5000], why: [] },
  ],
  [
    'a host that is always busy',
    [['429:0'], ['429:0'], ['429:0'], ['200']],
    {
      statuses: [429, 429, 429],
      pauses: Array(9).fill(0),
      why: ['shop.example responded with status 429 for 3 URLs in a row'],
    },
  ],
  [
    'a host that requests a delay of one hour',
    [['200'], ['503:3600'], ['200'], ['503:3600'], ['503:3600'], ['503:3600'], ['200']],
    {
      statuses: [200, 503, 200, 503, 503, 503],
      pauses: [],
      why: ['shop.example responded with status 503 for 3 URLs in a row, and requests a delay of 3600 s'],
    },
  ],
])('a crawl has the expected statuses, pauses and reasons for %s', async (_name, addresses, outcome) => {
  expect(await asked(addresses)).toEqual(outcome)
})

test('no turn starts during a pause of its host, even if the turn was already waiting', async () => {
  const pace = new HostDelay()
  const { signal } = new AbortController()
  await pace.turn('a.example', 30, signal)
  const began = performance.now()
  const waiting = [pace.turn('a.example', 30, signal), pace.turn('a.example', 30, signal)]
  pace.rest('a.example', 200)
  pace.rest('a.example', 50)
  await pace.turn('b.example', 30, signal)
  const ends = await Promise.all(waiting.map((one) => one.then(() => performance.now() - began)))
  for (const ms of ends) expect(ms).toBeGreaterThanOrEqual(199)
})
