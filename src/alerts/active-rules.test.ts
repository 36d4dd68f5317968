import { describe, expect, test } from 'bun:test'
import { cast, memoryDb, testClock } from '../../test/fixtures.ts'
import type { PhoneRegions } from '../conditions/find-phone-numbers.ts'
import { ActiveRules } from './active-rules.ts'
import { eventOf, validationInput } from './alert.fixture.ts'
import type { AlertInput } from './alert.ts'
import { createAlert, deleteAlert, setEnabled, updateAlert } from './alert-store.ts'

function setUp(regionsOf: (orgId: string) => PhoneRegions = () => []) {
  const db = memoryDb()
  const clock = testClock()
  const { orgId, mallory } = cast(db, clock)
  const rules = new ActiveRules(db, regionsOf)
  const create = (input: AlertInput = validationInput, at = orgId) => createAlert(db, clock, at, input).id
  /** Returns the ids of the alerts that an event with these fields violates. */
  const broken = (values: Parameters<typeof eventOf>[0] = {}) => rules.judge(eventOf({ orgId, ...values }))
  return { db, clock, orgId, mallory, rules, create, broken }
}

describe('active rules', () => {
  test('apply to the first event after a change', () => {
    const { rules, create, broken } = setUp()
    expect(broken()).toEqual([])
    const first = create()
    expect(broken()).toEqual([])
    rules.changed()
    expect(broken()).toEqual([first])
    const second = create()
    rules.changed()
    rules.changed()
    expect(broken().sort()).toEqual([first, second].sort())
    expect(broken({ params: { value: '5' } })).toEqual([])
  })

  test.each<[string, (world: ReturnType<typeof setUp>, id: string) => void]>([
    ['disabled', ({ db, clock, orgId }, id) => setEnabled(db, clock, { orgId, id }, false)],
    ['deleted', ({ db, orgId }, id) => deleteAlert(db, { orgId, id }, () => {})],
    [
      'changed so that it no longer matches',
      ({ db, clock, orgId }, id) => updateAlert(db, clock, { orgId, id }, { ...validationInput, vendors: ['other'] }),
    ],
  ])('exclude an alert that was %s', (_how, change) => {
    const world = setUp()
    const id = world.create()
    expect(world.broken()).toEqual([id])
    change(world, id)
    expect(world.broken()).toEqual([id])
    world.rules.changed()
    expect(world.broken()).toEqual([])
  })

  test('are available right after startup', () => {
    const { db, create, orgId } = setUp()
    const id = create()
    expect(new ActiveRules(db, () => []).judge(eventOf({ orgId }))).toEqual([id])
  })

  test("include only the rules of the event's organization", () => {
    const { create, broken, mallory } = setUp()
    const [ours, theirs] = [create(), create(validationInput, mallory.orgId)]
    expect(broken()).toEqual([ours])
    expect(broken({ orgId: mallory.orgId })).toEqual([theirs])
  })

  test("recognise the national phone numbers of each organization's countries", () => {
    const phone: AlertInput = {
      ...validationInput,
      conditions: { logic: 'any', items: [{ parameter: 'note', op: 'contains_phone' }] },
    }
    const regions: Record<string, PhoneRegions> = {}
    const { create, broken, orgId, mallory } = setUp((org) => regions[org] ?? [])
    regions[orgId] = ['DE']
    const ours = create(phone)
    create(phone, mallory.orgId)
    const params = { note: 'call 030 / 901820' }
    expect(broken({ params })).toEqual([ours])
    expect(broken({ params, orgId: mallory.orgId })).toEqual([])
  })
})
