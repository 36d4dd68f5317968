import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { CALLERS, type Caller, cast, client, credentialsOf, memoryDb, testClock } from '../../test/fixtures.ts'
import { SIGNAL_MODES } from '../contract/statuses.ts'
import { createDomain, deleteDomain } from '../domains/store.ts'
import { signalRoutes } from './signal-routes.ts'
import { MAX_SETTINGS, saveSetting, settingsOf } from './signal-setting-store.ts'

function setUp() {
  const db = memoryDb()
  const clock = testClock()
  const people = cast(db, clock)
  const { orgId, bob, mallory } = people
  const domainId = createDomain(db, clock, orgId, { name: 'Shop' })
  const call = client({ db, clock }, ...signalRoutes({ db, clock }))
  const put = (body: object, as = bob.key) => call('PUT', '/v1/auto/signals', { as, body })
  return { db, clock, people, orgId, domainId, call, put, mallory, settings: () => settingsOf(db, orgId) }
}

const signal = { vendor: 'Google Analytics 4', event: 'purchase' }

describe('permissions for signal settings', () => {
  const members = { viewer: 403, readOnly: 403, member: 200, admin: 200, owner: 200, otherOrg: 404 }
  test.each(CALLERS.map((caller) => [caller, members[caller as keyof typeof members] ?? 401]))(
    '%s: %i',
    async (caller, status) => {
      const { people, call, domainId, settings } = setUp()
      const as = credentialsOf(people)[caller as Caller]
      const answer = await call('PUT', '/v1/auto/signals', { as, body: { domainId, ...signal, mode: 'off' } })
      expect(answer.status).toBe(status as number)
      expect(settings()).toHaveLength(status === 200 ? 1 : 0)
      if (status === 200) expect(answer.body).toEqual({ ok: true })
    },
  )
})

describe('a signal setting', () => {
  test('is created, changed, and removed when it equals the defaults', async () => {
    const { put, domainId, settings } = setUp()
    const steps: [object, object[]][] = [
      [{ mode: 'muted' }, [{ mode: 'muted', sensitivity: null }]],
      [{ mode: 'auto', sensitivity: 3 }, [{ mode: 'auto', sensitivity: 3 }]],
      // Omitted fields are unchanged: muting a signal keeps its sensitivity.
      [{ mode: 'muted' }, [{ mode: 'muted', sensitivity: 3 }]],
      [{ mode: 'muted', sensitivity: null }, [{ mode: 'muted', sensitivity: null }]],
      [{ mode: 'auto' }, []],
      [{ mode: 'auto', sensitivity: null }, []],
      [{ mode: 'off', sensitivity: 8 }, [{ mode: 'off', sensitivity: 8 }]],
    ]
    for (const [values, kept] of steps) {
      expect((await put({ domainId, ...signal, ...values })).status).toBe(200)
      expect(settings()).toEqual(kept.map((one) => ({ domainId, ...signal, ...one })) as never)
    }
  })

  test('applies to one vendor and event of one domain, and an omitted event means the empty name', async () => {
    const { put, domainId, settings } = setUp()
    await put({ domainId, vendor: 'A', event: 'x', mode: 'off' })
    await put({ domainId, vendor: 'A', mode: 'muted' })
    await put({ domainId, vendor: 'B', event: 'x', mode: 'muted' })
    expect(settings()).toMatchObject([
      { vendor: 'A', event: '', mode: 'muted' },
      { vendor: 'A', event: 'x', mode: 'off' },
      { vendor: 'B', event: 'x', mode: 'muted' },
    ])
  })

  test('belongs to one organization, and is deleted with its domain', async () => {
    const { db, clock, put, domainId, mallory, orgId, settings } = setUp()
    const theirs = createDomain(db, clock, mallory.orgId, { name: 'Shop' })
    for (const id of [theirs, 'dom_nobody']) {
      const answer = await put({ domainId: id, ...signal, mode: 'off' })
      expect([answer.status, answer.body]).toEqual([404, { error: 'domainId: no such domain' }])
    }
    await put({ domainId, ...signal, mode: 'off' })
    await put({ domainId: theirs, ...signal, mode: 'off' }, mallory.key)
    expect([settings().length, settingsOf(db, mallory.orgId).length]).toEqual([1, 1])
    deleteDomain(db, { orgId, id: domainId })
    expect([settings().length, settingsOf(db, mallory.orgId).length]).toEqual([0, 1])
  })

  test('is rejected beyond a thousand per domain', async () => {
    const { db, clock, orgId, put, domainId } = setUp()
    for (let n = 0; n < MAX_SETTINGS; n++) {
      saveSetting(db, clock, orgId, { domainId, vendor: `v${n}`, event: '', mode: 'off' })
    }
    expect((await put({ domainId, vendor: 'excess vendor', mode: 'off' })).status).toBe(409)
    expect((await put({ domainId, vendor: 'v7', mode: 'muted' })).status).toBe(200)
    expect((await put({ domainId, vendor: 'v7', mode: 'auto' })).status).toBe(200)
    expect((await put({ domainId, vendor: 'excess vendor', mode: 'off' })).status).toBe(200)
  })

  test('is the last one saved for its signal, after any sequence of calls', () => {
    const call = fc.record({
      vendor: fc.constantFrom('A', 'B'),
      mode: fc.constantFrom(...SIGNAL_MODES),
      sensitivity: fc.option(fc.integer({ min: 2, max: 8 })),
    })
    fc.assert(
      fc.property(fc.array(call, { maxLength: 12 }), (calls) => {
        const { db, clock, orgId, domainId, settings } = setUp()
        for (const one of calls) saveSetting(db, clock, orgId, { domainId, event: 'x', ...one })
        const last = new Map(calls.map((one) => [one.vendor, one]))
        const expected = [...last.values()]
          .filter(({ mode, sensitivity }) => mode !== 'auto' || sensitivity !== null)
          .map((one) => ({ domainId, event: 'x', ...one }))
        expect(settings()).toEqual(expected.sort((a, b) => (a.vendor < b.vendor ? -1 : 1)))
      }),
      { numRuns: 30 },
    )
  })
})

test.each<[string, object]>([
  ['domainId', { domainId: '' }],
  ['domainId', { domainId: undefined }],
  ['vendor', { vendor: '' }],
  ['vendor', { vendor: 'x'.repeat(201) }],
  ['event', { event: 'x'.repeat(201) }],
  ['mode', { mode: 'loud' }],
  ['mode', { mode: undefined }],
  ['sensitivity', { sensitivity: 1 }],
  ['sensitivity', { sensitivity: 9 }],
  ['sensitivity', { sensitivity: 4.5 }],
  ['sensitivity', { sensitivity: '4' }],
  ['channels', { channels: [] }],
])('rejects an invalid %s: %j', async (field, bad) => {
  const { put, domainId, settings } = setUp()
  const answer = await put({ domainId, ...signal, mode: 'off', ...bad })
  expect([answer.status, answer.body.error]).toEqual([400, expect.stringMatching(new RegExp(`^${field}: `))])
  expect(settings()).toEqual([])
})
