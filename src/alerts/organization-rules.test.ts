import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { compileViolation } from '../conditions/predicate.ts'
import { alertOf, eventOf, validationInput, volumeInput } from './alert.fixture.ts'
import type { Alert, AlertInput } from './alert.ts'
import { domainsOf } from './alert.ts'
import { judgeOf } from './judge.fixture.ts'

const blankValue = (id: string, values: Partial<AlertInput> = {}, orgId = 'org_a') =>
  alertOf({ ...validationInput, ...values }, id, orgId)

const longerThan = (length: number): NonNullable<AlertInput['conditions']> => ({
  logic: 'any',
  items: [{ parameter: 'value', op: 'length_gt', values: [`${length}`] }],
})

/** Returns parameters that call `read` on each access. */
function counted(params: Record<string, string>, read: () => void): Record<string, string> {
  return new Proxy(params, {
    get(target, key) {
      read()
      return Reflect.get(target, key)
    },
  })
}

describe('the evaluation of an event', () => {
  const alerts: Alert[] = [
    blankValue('everywhere'),
    blankValue('shop', { domainId: 'dom_shop' }),
    blankValue('blog', { domainId: 'dom_blog' }),
    blankValue('both', { domainId: 'dom_blog', domainIds: ['dom_shop'] }),
    blankValue('ga4', { vendors: ['ga4', 'meta'] }),
    blankValue('meta', { vendors: ['meta'] }),
    blankValue('purchases', { filters: [{ parameter: '$event', op: 'equals', values: ['purchase'] }] }),
    blankValue('views', { filters: [{ parameter: '$event', op: 'equals', values: ['view'] }] }),
    blankValue('disabled', { enabled: false }),
    blankValue('other organization', {}, 'org_b'),
    alertOf(volumeInput, 'volume'),
  ]
  const judge = judgeOf(alerts)

  test.each<[string, Parameters<typeof eventOf>[0], string[]]>([
    ['a purchase in the shop', {}, ['both', 'everywhere', 'ga4', 'purchases', 'shop']],
    ['the same purchase again', {}, ['both', 'everywhere', 'ga4', 'purchases', 'shop']],
    ['an event of a vendor that no rule names', { vendor: 'own' }, ['everywhere', 'shop', 'both', 'purchases']],
    [
      'an event of a vendor named like an inherited property',
      { vendor: 'constructor' },
      ['everywhere', 'shop', 'both', 'purchases'],
    ],
    ['a view', { event: 'view' }, ['everywhere', 'shop', 'both', 'ga4', 'views']],
    [
      'an event in the blog',
      { domainId: 'dom_blog', vendor: 'meta' },
      ['everywhere', 'blog', 'both', 'ga4', 'meta', 'purchases'],
    ],
    ['an event in a domain that no rule names', { domainId: 'dom_new' }, ['everywhere', 'ga4', 'purchases']],
    ['an event with a value', { params: { value: '12' } }, []],
    ['an event of another organization', { orgId: 'org_b' }, ['other organization']],
    ['an event of an organization without rules', { orgId: 'org_c' }, []],
  ])('applies the rules in scope to %s', (_, values, expected) => {
    expect(judge(eventOf(values))).toEqual(expected.toSorted())
  })

  test('skips rules whose scope excludes the event', () => {
    const inScope = Array.from({ length: 50 }, (_, n) =>
      blankValue(`in ${n}`, { domainId: 'dom_shop', vendors: ['ga4'], conditions: longerThan(100 + n) }),
    )
    const others = Array.from({ length: 950 }, (_, n) =>
      blankValue(`out ${n}`, n % 2 ? { domainId: 'dom_blog' } : { vendors: [`vendor ${n}`] }),
    )
    const judge = judgeOf([...others, ...inScope])
    let reads = 0
    const params = counted({ value: '12' }, () => reads++)
    expect(judge(eventOf({ params }))).toEqual([])
    // All conditions are of one kind and on one parameter, so the parameter is read only once.
    expect(reads).toBe(1)
  })

  test('evaluates shared conditions once per event', () => {
    const judge = judgeOf(
      Array.from({ length: 50 }, (_, n) => blankValue(`alr_${n}`, { conditions: longerThan(n % 2) })),
    )
    for (const [value, broken] of [
      ['', 0],
      ['1', 25],
      ['12', 50],
      ['1', 25],
    ] as const) {
      let reads = 0
      const params = counted({ value }, () => reads++)
      expect(judge(eventOf({ params })).length).toBe(broken)
      expect(reads).toBe(1)
    }
  })

  test('evaluates filters first, and conditions only if the filters match', () => {
    const filters = [{ parameter: '$event', op: 'equals' as const, values: ['view'] }]
    const judge = judgeOf([blankValue('views', { filters })])
    let reads = 0
    const params = counted({ value: '' }, () => reads++)
    expect(judge(eventOf({ params }))).toEqual([])
    expect(reads).toBe(0)
  })

  test('returns the same frozen empty list when there is no violation', () => {
    const none = judge(eventOf({ params: { value: '1' } }))
    expect(judgeOf([])(eventOf())).toBe(none)
    expect(() => none.push('x')).toThrow(TypeError)
  })

  test('returns a new list each time', () => {
    judge(eventOf()).push('more')
    expect(judge(eventOf())).not.toContain('more')
  })

  test("uses the phone regions of the event's organization", () => {
    const conditions = { logic: 'any' as const, items: [{ parameter: 'note', op: 'contains_phone' as const }] }
    const judge = judgeOf([blankValue('phone', { conditions })], (orgId) => (orgId === 'org_a' ? ['DE'] : []))
    expect(judge(eventOf({ params: { note: 'call 030 901820' } }))).toEqual(['phone'])
    const without = judgeOf([blankValue('phone', { conditions })])
    expect(without(eventOf({ params: { note: 'call 030 901820' } }))).toEqual([])
  })
})

test('the index does not change results: each alert is evaluated as if it were the only one', () => {
  const words = fc.constantFrom('a', 'b', 'c', 'd')
  const some = fc.option(fc.uniqueArray(words, { maxLength: 3 }), { nil: undefined })
  const alert = fc
    .record({
      vendors: some,
      domainIds: some,
      domainId: fc.option(words, { nil: undefined }),
      org: words,
      event: words,
    })
    .map(({ org, event, vendors, domainIds, domainId }) => {
      const filters = [{ parameter: '$event', op: 'not_equals' as const, values: [event] }]
      const scope = { ...(vendors && { vendors }), ...(domainIds && { domainIds }), ...(domainId && { domainId }) }
      return { ...validationInput, ...scope, filters, org }
    })
  const event = fc.record({ domainId: words, vendor: words, event: words, orgId: words })
  fc.assert(
    fc.property(fc.array(alert, { maxLength: 12 }), fc.array(event, { maxLength: 12 }), (inputs, events) => {
      const alerts = inputs.map(({ org, ...input }, index) => alertOf(input, `alr_${index}`, org))
      const judge = judgeOf(alerts)
      for (const values of events) {
        const event = eventOf(values)
        const expected = alerts.filter((alert) => {
          const domains = domainsOf(alert)
          const inScope =
            alert.orgId === event.orgId &&
            (domains.length === 0 || domains.includes(event.domainId)) &&
            (!alert.vendors?.length || alert.vendors.includes(event.vendor))
          return inScope && compileViolation(alert)(event)
        })
        expect(judge(event)).toEqual(expected.map(({ id }) => id))
      }
    }),
  )
})
