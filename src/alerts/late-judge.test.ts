import { expect, setDefaultTimeout, test } from 'bun:test'
import type { PhoneRegions } from '../conditions/phone.ts'
import { alertOf, eventOf, validationInput } from './alert.fixture.ts'
import { LateJudge } from './late-judge.ts'
import type { AlertRule } from './rule-book.ts'

// Another process is started, on machines that do other things too.
setDefaultTimeout(60_000)

test('what waited is judged by the rules and the countries of the moment it is judged', async () => {
  const phone = {
    ...validationInput,
    conditions: { logic: 'any' as const, items: [{ parameter: '*', op: 'contains_phone' as const }] },
  }
  const rules = new Map<string, AlertRule>([['alr_1', alertOf(phone, 'alr_1')]])
  let regions: PhoneRegions = []
  let isDeleted = false
  const judge = new LateJudge({
    // As the rules in force do: they report a change at the next refresh.
    refresh() {
      if (isDeleted && rules.delete('alr_1')) judge.changed('org_a', 'alr_1', null)
    },
    rulesOf: () => [...rules.values()],
    regionsOf: () => regions,
  })
  const events = [eventOf({ params: { text: 'call 030 12345678 now' } }), eventOf({ params: {} })]
  expect(await judge.judge('org_a', events)).toEqual([[], []])
  regions = ['DE']
  expect(await judge.judge('org_a', events)).toEqual([['alr_1'], []])
  isDeleted = true
  expect(await judge.judge('org_a', events)).toEqual([[], []])
  judge.close()
})
