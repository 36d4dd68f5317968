import { expect, test } from 'bun:test'
import { newId } from '../../core/id.ts'
import { NewIssues, openedAt } from './news.ts'

const START = 1_767_600_000_000
const moved = (at: number, severity = 'high', status = 'open') => ({ id: newId('iss', at), severity, status })

/** Listening since START; whether there is something to say after each. */
function hearing(...issues: ReturnType<typeof moved>[]) {
  const news = new NewIssues()
  news.hear('pulse', { at: START })
  return { news, due: issues.map((issue) => news.hear('issue', issue)) }
}

test('an id tells when its issue was opened', () => {
  expect(openedAt(newId('iss', START))).toBe(START)
  for (const none of ['', 'iss_0', 'iss_tooShortAndCapital', newId('alr', START)]) expect(openedAt(none)).toBeNaN()
})

test('those that opened since are counted once, with the worst of them', () => {
  const again = moved(START + 4)
  const { news, due } = hearing(moved(START + 1), moved(START + 2, 'critical'), moved(START + 3, 'critical'), again)
  expect(due).toEqual([true, true, true, true])
  news.hear('issue', { ...again, severity: 'critical' })
  expect(news.take(0)).toEqual({ count: 4, worst: 'critical', worstCount: 3 })
  expect(news.hear('issue', again)).toBe(false)
  expect(news.take(0)).toBeNull()
})

test.each([
  ['was open before', moved(START - 1)],
  ['has an id without a time', { ...moved(START), id: 'iss_0' }],
  ['is muted', moved(START, 'high', 'muted')],
])('what %s is no news', (_name, issue) => {
  const { news, due } = hearing(issue)
  expect(due).toEqual([false])
  expect(news.take(0)).toBeNull()
})

test('what was resolved before it was told is not told', () => {
  const issue = moved(START)
  const { news, due } = hearing(issue, { ...issue, status: 'resolved' })
  expect(due).toEqual([true, false])
  expect(news.take(0)).toBeNull()
})

test('nothing is news before it is known since when', () => {
  expect(new NewIssues().hear('issue', moved(START))).toBe(false)
})

test('the first is told soon, the next a minute after it', () => {
  const { news } = hearing(moved(START))
  expect(news.wait(5000)).toBe(2000)
  news.take(5000)
  expect(news.wait(6000)).toBe(59_000)
  expect(news.wait(5000 + 70_000)).toBe(2000)
})
