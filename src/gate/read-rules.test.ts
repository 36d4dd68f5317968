import { describe, expect, test } from 'bun:test'
import { readExpectations, readRules } from './read-rules.ts'

const ORG = { orgId: 'org' }
const ALERT = {
  name: 'Blank value',
  alertType: 'data_validation',
  conditions: { logic: 'any', items: [{ parameter: 'value', op: 'is_blank' }] },
}
const STORED = {
  ...ALERT,
  id: 'alr_1',
  orgId: 'org_1',
  period: '1h',
  channels: [{ type: 'webhook', target: '***' }],
  severity: 'high',
  lateShare: 0.5,
  createdAt: 1,
  updatedAt: 2,
  managedBy: { key: 'blank-value', file: 'tagwarden.yaml' },
}

describe('a file of alerts', () => {
  test.each<[string, unknown, string[]]>([
    ['a response of the list', { alerts: [STORED], nextCursor: null, openIssues: {} }, ['alr_1']],
    ['a bulk request', { alerts: [{ ...ALERT, period: '1h', channels: STORED.channels }] }, ['alerts[0]']],
    ['a plain list', [ALERT, STORED], ['alerts[0]', 'alr_1']],
    ['one alert', STORED, ['alr_1']],
    ['an empty list', { alerts: [] }, []],
  ])('can be %s', (_, value, ids) => {
    expect(readRules(value, ORG).alerts.map(({ id }) => id)).toEqual(ids)
  })

  test.each<[unknown, string]>([
    ['text', 'alerts: must be a list of alerts'],
    [{}, 'alerts: must be a list of alerts'],
    [[1], 'alerts[0]: must be an object'],
    [[{ ...ALERT, alertType: 'other' }], 'alerts[0].alertType: '],
    [[ALERT, { ...ALERT, colour: 'red' }], 'alerts[1].colour: '],
    [
      [{ ...ALERT, conditions: { logic: 'any', items: [{ parameter: 'a', op: 'regex', values: ['('] }] } }],
      'alerts[0].conditions.items[0].values',
    ],
    [{ alerts: [], labels: [{ label: 1, members: [] }] }, 'labels[0].label: '],
  ])('is refused with the field that is wrong: %j', (value, message) => {
    expect(() => readRules(value, ORG)).toThrow(message)
  })

  test('has labels with members, whose names are not case-sensitive', () => {
    const { membersOf } = readRules(
      { alerts: [], labels: [{ label: 'Checkout', color: '#fff', members: [{ vendor: 'Hotjar' }] }] },
      ORG,
    )
    expect(membersOf('checkout')).toEqual([{ vendor: 'Hotjar', event: '' }])
    expect(membersOf('other')).toEqual([])
  })
})

test.each<[unknown, string]>([
  [{}, 'expectations: must be a list'],
  [[{}], 'expectations[0]: label, vendor, event, account or data is required'],
  [[{ event: 'a', max: 1, min: 2 }], 'expectations[0].max: must be 0 or at least min'],
  [[{ event: 'a', colour: 1 }], 'expectations[0].colour: '],
])('expectations are refused with the field that is wrong: %j', (value, message) => {
  expect(() => readExpectations(value)).toThrow(message)
})
