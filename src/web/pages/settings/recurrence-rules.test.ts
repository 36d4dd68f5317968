import { expect, test } from 'bun:test'
import { type Frequency, frequencyOf, ruleOf } from './recurrence-rules.ts'

test.each<[Frequency, string | null]>([
  ['never', null],
  ['daily', 'FREQ=DAILY'],
  ['weekdays', 'FREQ=WEEKLY;BYDAY=MO,TU,WE,TH,FR'],
  // 31 March 2026 is a Tuesday.
  ['weekly', 'FREQ=WEEKLY;BYDAY=TU'],
  ['monthly', 'FREQ=MONTHLY;BYMONTHDAY=31'],
])('%s is the rule %p', (frequency, rule) => {
  expect(ruleOf(frequency, '2026-03-31T22:00')).toBe(rule)
  expect(frequencyOf(rule, '2026-03-31T22:00')).toBe(frequency)
})

test('any other rule is custom', () => {
  expect(frequencyOf('FREQ=WEEKLY;BYDAY=WE', '2026-03-31T22:00')).toBe('custom')
})
