import { describe, expect, test } from 'bun:test'
import { CALLERS, type Caller, cast, client, credentialsOf, memoryDb, testClock } from '../../test/fixtures.ts'
import { MAX_ALL_MEMBERS, MAX_LABELS, MAX_MEMBERS } from './label.ts'
import { labelRoutes } from './routes.ts'
import { assign, membersOf } from './store.ts'

const VIEW = { vendor: 'Google Analytics 4', event: 'page_view' }
const BUY = { vendor: 'Meta Pixel', event: 'Purchase' }
const ANY = { vendor: 'TikTok Pixel', event: '' }

function setUp() {
  const db = memoryDb()
  const clock = testClock()
  const people = cast(db, clock)
  const changed: string[] = []
  const call = client({ db, clock }, ...labelRoutes({ db, clock, changed: (orgId) => changed.push(orgId) }))
  const post = (act: 'assign' | 'unassign', body: unknown, as = people.bob.key) => {
    clock.advance(1)
    return call('POST', `/v1/insights/labels/${act}`, { as, body })
  }
  const list = async (as = people.bob.key) => (await call('GET', '/v1/insights/labels', { as })).body.labels
  return { db, clock, cast: people, orgId: people.orgId, call, post, list, changed }
}

describe('permissions', () => {
  type Expected = Record<Exclude<Caller, 'nobody' | 'stranger' | 'revoked' | 'expired'>, number>
  const readers = { viewer: 200, readOnly: 200, member: 200, admin: 200, owner: 200, otherOrg: 200 }
  const writers = { viewer: 403, readOnly: 403, member: 200, admin: 200, owner: 200, otherOrg: 404 }
  const cases: [string, string, unknown, Expected][] = [
    ['GET', '/v1/insights/labels', undefined, readers],
    ['POST', '/v1/insights/labels/assign', { label: 'New', members: [VIEW] }, { ...writers, otherOrg: 200 }],
    ['POST', '/v1/insights/labels/unassign', { label: 'Checkout', members: [VIEW] }, writers],
    ['DELETE', '/v1/insights/labels/{id}', undefined, writers],
  ]
  test.each(
    cases.flatMap(([method, path, body, expected]) =>
      CALLERS.map((caller) => {
        const status = caller in expected ? expected[caller as keyof Expected] : 401
        return [method, path, body, caller, status] as const
      }),
    ),
  )('%s %s %j as %s: %i', async (method, path, body, caller, status) => {
    const { db, call, cast, post, list } = setUp()
    await post('assign', { label: 'Checkout', members: [VIEW] })
    const [{ id }] = await list()
    const dump = () =>
      JSON.stringify(['label', 'labelMember'].map((table) => db.prepare(`SELECT * FROM ${table}`).all()))
    const before = dump()
    const answer = await call(method, path.replace('{id}', id), { as: credentialsOf(cast)[caller], body })
    expect(answer.status).toBe(status)
    if (status >= 400) expect(dump()).toBe(before)
  })
})

describe('a label', () => {
  test('is created, gains and loses members, and is deleted', async () => {
    const { call, cast, post, list, changed, orgId, clock } = setUp()
    const made = await post('assign', { label: ' Checkout ', members: [VIEW, BUY, VIEW] })
    expect(made).toMatchObject({ status: 200, body: { ok: true, assigned: 2 } })
    const createdAt = clock.now()
    const [label] = await list()
    expect(label).toEqual({
      id: expect.stringMatching(/^lbl_/),
      label: 'Checkout',
      kind: 'step',
      createdAt,
      color: expect.stringMatching(/^#[0-9a-f]{6}$/),
      members: [VIEW, BUY],
    })
    const more = await post('assign', { label: 'CHECKOUT', color: '#ABCDEF', kind: 'owner', members: [BUY, ANY] })
    expect(more.body).toEqual({ ok: true, assigned: 1 })
    expect(await list()).toEqual([{ ...label, color: '#abcdef', kind: 'owner', members: [VIEW, BUY, ANY] }])
    const less = await post('unassign', { label: 'checkout', members: [VIEW, { ...VIEW, event: 'other' }] })
    expect(less.body).toEqual({ ok: true, removed: 1 })
    expect((await list())[0].members).toEqual([BUY, ANY])
    await post('unassign', { label: 'checkout', members: [BUY, ANY] })
    expect((await list())[0].members).toEqual([])
    const gone = () => call('DELETE', `/v1/insights/labels/${label.id}`, { as: cast.bob.key })
    expect((await gone()).body).toEqual({ ok: true })
    expect([(await gone()).status, await list()]).toEqual([404, []])
    expect((await post('unassign', { label: 'checkout', members: [BUY] })).status).toBe(404)
    expect(changed).toEqual(Array(5).fill(orgId))
  })

  test('belongs to one organization, and its name is not case-sensitive', async () => {
    const { db, cast, post, list, orgId } = setUp()
    await post('assign', { label: 'Käse', members: [VIEW] })
    await post('assign', { label: 'Käse', members: [BUY] }, cast.mallory.key)
    expect((await list()).map(({ members }: { members: unknown }) => members)).toEqual([[VIEW]])
    const members = membersOf(db, orgId)
    for (const name of ['KÄSE', ' käse', 'Ka\u0308se']) expect(members(name)).toEqual([VIEW])
    expect(members('Kase')).toEqual([])
    expect(membersOf(db, cast.mallory.orgId)('käse')).toEqual([BUY])
  })

  test.each<[unknown, string]>([
    [{ members: [VIEW] }, 'label: is missing'],
    [{ label: '', members: [VIEW] }, 'label: must not be empty'],
    [{ label: ' \t', members: [VIEW] }, 'label: must not be blank'],
    [{ label: 'l'.repeat(81), members: [VIEW] }, 'label: must have at most 80 characters'],
    [{ label: 'a\0b', members: [] }, 'label: contains a NUL character or an unpaired surrogate'],
    [{ label: 'L' }, 'members: is missing'],
    [{ label: 'L', members: [{ vendor: 'V' }] }, 'members[0].event: is missing'],
    [{ label: 'L', members: [{ event: 'e' }] }, 'members[0].vendor: is missing'],
    [{ label: 'L', members: [{ vendor: '', event: 'e' }] }, 'members[0].vendor: must not be empty'],
    [
      { label: 'L', members: [VIEW, { vendor: 'V', event: '\ud800' }] },
      'members[1].event: contains a NUL character or an unpaired surrogate',
    ],
    [{ label: 'L', members: Array(MAX_MEMBERS + 1).fill(VIEW) }, 'members: must have at most 500 items'],
    [{ label: 'L', members: [], color: 'red' }, 'color: must be a color such as #3b82f6'],
    [{ label: 'L', members: [], color: '#12345g' }, 'color: must be a color such as #3b82f6'],
    [{ label: 'L', members: [], kind: 'team' }, 'kind: must be one of step, group, owner'],
    [{ label: 'L', members: [], id: 'lbl_1' }, 'id: there is no such field'],
  ])('%j is rejected: %s', async (body, error) => {
    const { post, list } = setUp()
    expect(await post('assign', body)).toMatchObject({ status: 400, body: { error } })
    expect(await list()).toEqual([])
  })

  test('is listed on exactly one page, oldest label first', async () => {
    const { call, cast, post } = setUp()
    const names = ['One', 'Two', 'Three']
    for (const label of names) await post('assign', { label, members: [] })
    const first = (await call('GET', '/v1/insights/labels?limit=2', { as: cast.vera.key })).body
    const rest = (await call('GET', `/v1/insights/labels?limit=2&cursor=${first.nextCursor}`, { as: cast.vera.key }))
      .body
    expect([...first.labels, ...rest.labels].map(({ label }) => label)).toEqual(names)
    expect([first.labels.length, rest.nextCursor]).toEqual([2, null])
  })

  test('is assigned a different color from other new labels', async () => {
    const { post, list } = setUp()
    for (let n = 0; n < 10; n++) await post('assign', { label: `L${n}`, members: [] })
    expect(new Set((await list()).map(({ color }: { color: string }) => color)).size).toBe(10)
  })
})

describe('limits above which assignments are rejected without side effects', () => {
  const some = (count: number, vendor = 'V') => Array.from({ length: count }, (_, n) => ({ vendor, event: `e${n}` }))

  test(`${MAX_LABELS} labels per organization`, async () => {
    const { db, clock, post, orgId } = setUp()
    for (let n = 0; n < MAX_LABELS; n++) assign(db, clock, orgId, { label: `L${n}`, members: [] })
    const { status, body } = await post('assign', { label: 'One more', members: [VIEW] })
    expect([status, body.error]).toEqual([409, 'label: an organization has at most 500 labels; delete one first'])
    expect((await post('assign', { label: 'l1', members: [VIEW] })).body).toEqual({ ok: true, assigned: 1 })
  })

  test(`${MAX_MEMBERS} members per label, ${MAX_ALL_MEMBERS} for all labels together`, async () => {
    const { db, clock, post, orgId } = setUp()
    for (let n = 0; n < MAX_ALL_MEMBERS / MAX_MEMBERS - 1; n++) {
      assign(db, clock, orgId, { label: `L${n}`, members: some(MAX_MEMBERS) })
    }
    const full = await post('assign', { label: 'l0', members: [VIEW] })
    expect([full.status, full.body.error]).toEqual([409, 'members: l0 would have 501; the maximum for a label is 500'])
    expect(membersOf(db, orgId)('L0')).toHaveLength(MAX_MEMBERS)
    expect((await post('assign', { label: 'L0', members: some(3) })).body.assigned).toBe(0)
    assign(db, clock, orgId, { label: 'Last', members: some(MAX_MEMBERS) })
    const { status, body } = await post('assign', { label: 'More', members: [VIEW] })
    expect([status, body.error]).toEqual([
      409,
      'members: all labels together would have 5001; the maximum for an organization is 5000',
    ])
    expect(membersOf(db, orgId)('More')).toEqual([])
  })
})
