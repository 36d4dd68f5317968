import { expect, test } from 'bun:test'
import { NewIssueCollector } from './new-issue-collector.ts'

const START = 1_767_600_000_000
const DIGITS = '0123456789abcdefghjkmnpqrstvwxyz'

/** Returns an id with this prefix and creation time, in the server's format. */
function idOf(kind: string, at: number): string {
  const time = Array.from({ length: 10 }, (_, index) => DIGITS[Math.floor(at / 32 ** (9 - index)) % 32]).join('')
  return `${kind}_${time}4z8k1m5v0c7x2b9n`
}

const moved = (at: number, severity = 'high', status = 'open') => ({ id: idOf('iss', at), severity, status })

/**
 * A collector that received its first pulse at START. `due` has one entry per issue event: whether an announcement is
 * due after that event.
 */
function hearing(...issues: ReturnType<typeof moved>[]) {
  const news = new NewIssueCollector()
  news.hear('pulse', { at: START })
  return { news, due: issues.map((issue) => news.hear('issue', issue)) }
}

test('issues opened since the page loaded are counted once, with the highest severity', () => {
  const again = moved(START + 4)
  const { news, due } = hearing(moved(START + 1), moved(START + 2, 'critical'), moved(START + 3, 'critical'), again)
  expect(due).toEqual([true, true, true, true])
  news.hear('issue', { ...again, severity: 'critical' })
  expect(news.take(0)).toEqual({ count: 4, worst: 'critical', worstCount: 3 })
  expect(news.hear('issue', again)).toBe(false)
  expect(news.take(0)).toBeNull()
})

test.each([
  ['was already open', moved(START - 1)],
  ['has an id without a time', { ...moved(START), id: 'iss_0' }],
  ['is muted', moved(START, 'high', 'muted')],
])('an issue that %s is not announced', (_name, issue) => {
  const { news, due } = hearing(issue)
  expect(due).toEqual([false])
  expect(news.take(0)).toBeNull()
})

test('an issue resolved before it was announced is not announced', () => {
  const issue = moved(START)
  const { news, due } = hearing(issue, { ...issue, status: 'resolved' })
  expect(due).toEqual([true, false])
  expect(news.take(0)).toBeNull()
})

test('no issue is announced before the start time is known', () => {
  expect(new NewIssueCollector().hear('issue', moved(START))).toBe(false)
})

test('the first issue is announced after two seconds, the next a minute later', () => {
  const { news } = hearing(moved(START))
  expect(news.wait(5000)).toBe(2000)
  news.take(5000)
  expect(news.wait(6000)).toBe(59_000)
  expect(news.wait(5000 + 70_000)).toBe(2000)
})
