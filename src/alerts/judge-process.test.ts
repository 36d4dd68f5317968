import { expect, test } from 'bun:test'
import { cast, memoryDb, testClock } from '../../test/fixtures.ts'
import type { PhoneRegions } from '../conditions/find-phone-numbers.ts'
import { assign } from '../labels/store.ts'
import { ActiveRules } from './active-rules.ts'
import { alertOf, eventOf, validationInput } from './alert.fixture.ts'
import { createAlert } from './alert-store.ts'
import { JudgeProcess } from './judge-process.ts'
import type { AlertRule } from './organization-rules.ts'

test('late batches are evaluated with the rules and countries in effect at that time', async () => {
  const phone = {
    ...validationInput,
    conditions: { logic: 'any' as const, items: [{ parameter: '*', op: 'contains_phone' as const }] },
  }
  const rules = new Map<string, AlertRule>([['alr_1', alertOf(phone, 'alr_1')]])
  let regions: PhoneRegions = []
  let isDeleted = false
  const judge = new JudgeProcess({
    // Like `ActiveRules`, reports a change at the next refresh.
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

test('late batches are evaluated with the labels in effect at that time', async () => {
  const db = memoryDb()
  const clock = testClock()
  const { orgId, mallory } = cast(db, clock)
  const items = [{ parameter: '$label', op: 'equals' as const, values: ['Checkout'] }]
  const { id } = createAlert(db, clock, orgId, { ...validationInput, conditions: { logic: 'any', items } })
  const rules = new ActiveRules(db, () => [])
  const judge = new JudgeProcess(rules)
  rules.onChange((...change) => judge.changed(...change))
  rules.refresh()
  const events = ['a', 'b'].map((event) => eventOf({ orgId, vendor: 'V', event }))
  const label = (event: string, of = orgId) => {
    assign(db, clock, of, { label: 'checkout', members: [{ vendor: 'V', event }] })
    rules.labelsChanged(of)
  }
  expect(await judge.judge(orgId, events)).toEqual([[], []])
  label('a', mallory.orgId)
  label('b')
  expect(await judge.judge(orgId, events)).toEqual([[], [id]])
  label('')
  expect(await judge.judge(orgId, events)).toEqual([[id], [id]])
  judge.close()
  expect(await judge.judge(orgId, events)).toEqual([[id], [id]])
  judge.close()
})
