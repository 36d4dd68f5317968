import { describe, expect, test } from 'bun:test'
import { cast, client, memoryDb, testClock } from '../../test/fixtures.ts'
import { PLAIN_PRIVACY } from '../conditions/privacy-settings.ts'
import { DAY_MS } from '../core/clock.ts'
import { createDomain } from '../domains/store.ts'
import type { NotificationRequest } from '../issues/issue.ts'
import { findIssue, setStatus } from '../issues/store.ts'
import { updateOrg } from '../org/store.ts'
import { RECORD_RETENTION_MS } from '../store/retention.ts'
import type { Sighting } from './compliance-finding.ts'
import { complianceRoutes } from './routes.ts'
import { recordSightings, removeOldFindings } from './store.ts'

function setUp() {
  const db = memoryDb()
  const clock = testClock()
  const people = cast(db, clock)
  const notices: NotificationRequest[] = []
  const changed: string[] = []
  const privacyOf = () => PLAIN_PRIVACY
  const enqueue = (order: NotificationRequest) => void notices.push(order)
  const routes = complianceRoutes({
    db,
    clock,
    enqueue,
    privacyOf,
    alertsChanged: (ids) => void changed.push(...ids),
  })
  const call = client({ db, clock }, ...routes)
  const [shop, blog] = ['shop.example', 'blog.example'].map((name) => createDomain(db, clock, people.orgId, { name }))
  const sighting = (values: Partial<Sighting> = {}): Sighting => ({
    orgId: people.orgId,
    domainId: shop ?? '',
    vendor: 'GA4',
    key: 'ep.user',
    kind: 'email',
    count: 1,
    example: 'jane.doe@mail.example.com',
    firstSeenAt: clock.now(),
    lastSeenAt: clock.now(),
    ...values,
  })
  const see = (...values: Partial<Sighting>[]) => recordSightings(db, values.map(sighting), { privacyOf })
  const list = async (query = '', which = 'pii') =>
    (await call('GET', `/v1/compliance/${which}${query}`, { as: people.vera.key })).body
  const act = (body: object, as = people.bob.key) => call('POST', '/v1/compliance/pii/action', { as, body })
  return { db, clock, people, notices, changed, enqueue, shop: shop ?? '', blog: blog ?? '', see, list, act, call }
}

describe('personal data findings', () => {
  test('are merged by vendor, key and kind, with the sum of the counts and all domains', async () => {
    const { see, list, shop, blog, clock } = setUp()
    see({ count: 2.5 }, { kind: 'phone', example: '+1 506 234 5678' })
    clock.advance(1000)
    see({ count: 3, domainId: blog, example: 'max@shop.example' })
    const { findings } = await list()
    expect(findings).toEqual([
      {
        vendor: 'GA4',
        key: 'ep.user',
        kind: 'email',
        domainIds: [shop, blog].sort(),
        count: 6,
        example: 'm***@s***.example',
        firstSeenAt: clock.now() - 1000,
        lastSeenAt: clock.now(),
        action: 'watch',
        note: null,
        issueId: null,
      },
      expect.objectContaining({ kind: 'phone', count: 1, example: '***78', domainIds: [shop] }),
    ])
  })

  test('can be paged and filtered by domain, vendor, kind and action, with consent findings listed separately', async () => {
    const { see, list, act, blog } = setUp()
    for (let n = 0; n < 7; n++)
      see({ key: `k${n}`, vendor: n % 2 ? 'GA4' : 'Meta', ...(n === 3 ? { domainId: blog } : {}) })
    see({ key: '$consent', kind: 'no_signal', example: 'requests without a signal' })
    await act({ action: 'ignore', vendor: 'GA4', key: 'k1', note: 'a test account' })
    const keys = async (query: string, which?: string) =>
      (await list(query, which)).findings.map(({ key }: { key: string }) => key)
    const first = await list('?limit=4')
    const rest = await list(`?limit=4&cursor=${first.nextCursor}`)
    expect([...first.findings, ...rest.findings].map(({ key }) => key).sort()).toEqual(
      [0, 1, 2, 3, 4, 5, 6].map((n) => `k${n}`),
    )
    expect(rest.nextCursor).toBeNull()
    expect(await keys(`?domainId=${blog}`)).toEqual(['k3'])
    expect((await keys('?vendor=Meta')).sort()).toEqual(['k0', 'k2', 'k4', 'k6'])
    expect(await keys('?kind=phone')).toEqual([])
    expect(await keys('?action=ignore')).toEqual(['k1'])
    expect(await keys('?kind=no_signal')).toEqual([])
    expect(await keys('', 'consent')).toEqual(['$consent'])
  })

  test('are hidden when less than half of the values in card format are valid card numbers', async () => {
    const { see, list } = setUp()
    const card = { kind: 'card', key: 'order', example: '4111111111111111' }
    see({ ...card, count: 1, formed: 2 })
    expect((await list()).findings).toMatchObject([{ kind: 'card', example: '***1111', count: 1 }])
    see({ ...card, count: 0, formed: 1, example: '' })
    expect((await list()).findings).toEqual([])
    see({ ...card, count: 1, formed: 1 })
    expect((await list()).findings).toMatchObject([{ kind: 'card', count: 2 }])
  })

  test('are merged when their keys are equal after masking', async () => {
    const { see, list } = setUp()
    see({ key: 'of jane@a.example' }, { key: 'of june@a.example' })
    expect((await list()).findings).toMatchObject([{ key: 'of j***@a***.example', count: 2 }])
  })

  test('are deleted with their last domain, and after 400 days', async () => {
    const { db, see, list, clock, shop, blog } = setUp()
    see({}, { domainId: blog }, { key: 'other', domainId: 'dom_nobodys' })
    db.prepare('DELETE FROM domain WHERE id = ?').run(shop)
    expect((await list()).findings).toMatchObject([{ domainIds: [blog] }])
    db.prepare('DELETE FROM domain WHERE id = ?').run(blog)
    expect((await list()).findings).toEqual([])
    removeOldFindings(db, clock.now() + RECORD_RETENTION_MS)
    expect(db.prepare('SELECT count(*) AS n FROM finding').get()).toEqual({ n: 1 })
    removeOldFindings(db, clock.now() + RECORD_RETENTION_MS + 1)
    expect(db.prepare('SELECT count(*) AS n FROM finding').get()).toEqual({ n: 0 })
  })
})

describe('finding actions', () => {
  const about = { vendor: 'GA4', key: 'ep.user' }

  test('"file" opens one issue with a visible alert, and returns this issue again until it is resolved', async () => {
    const { db, clock, see, act, list, people, notices, changed, enqueue, shop } = setUp()
    see({ count: 4 }, { kind: 'phone', count: 2, example: '+1 506 234 5678' })
    const { status, body } = await act({ ...about, action: 'file', kind: 'email', note: 'to the shop team' })
    expect({ status, body }).toEqual({ status: 200, body: { ok: true, issueId: expect.stringMatching(/^iss_/) } })
    const { issueId } = body
    const issue = findIssue(db, people.orgId, issueId)
    expect(issue).toMatchObject({
      alertType: 'data_validation',
      status: 'open',
      occurrences: 4,
      domainId: shop,
      severity: 'high',
    })
    expect(notices).toMatchObject([{ kind: 'notify', issueId, transition: 'opened' }])
    expect(changed).toEqual([issue.alertId])
    expect((await list('?kind=email')).findings).toMatchObject([{ action: 'file', note: 'to the shop team', issueId }])
    expect((await list('?kind=phone')).findings).toMatchObject([{ action: 'watch', note: null, issueId: null }])

    const again = await act({ ...about, action: 'file' })
    expect(again.body.issueId).toBe(issueId)
    expect((await list()).findings).toMatchObject([
      { action: 'file', issueId },
      { action: 'file', issueId },
    ])
    const alert = JSON.parse(String(db.prepare('SELECT input FROM alert WHERE id = ?').pluck().get(issue.alertId)))
    expect(alert).toMatchObject({
      vendors: ['GA4'],
      conditions: {
        logic: 'any',
        items: [
          { parameter: 'ep.user', op: 'contains_email' },
          { parameter: 'ep.user', op: 'contains_phone' },
        ],
      },
    })

    const hand = { orgId: people.orgId, by: people.bob.userId, now: clock.now() }
    setStatus(db, hand, issueId, 'resolved', enqueue)
    clock.advance(DAY_MS)
    expect((await act({ ...about, action: 'file' })).body.issueId).toBe(issueId)
    expect(findIssue(db, people.orgId, issueId).status).toBe('open')
    setStatus(db, { ...hand, now: clock.now() }, issueId, 'resolved', enqueue)
    clock.advance(8 * DAY_MS)
    const next = (await act({ ...about, action: 'file' })).body.issueId
    expect(next).not.toBe(issueId)
    expect(findIssue(db, people.orgId, next)).toMatchObject({ status: 'open', alertId: issue.alertId })
  })

  test('"ignore" and its note persist when the finding is seen again, and the default action is "watch"', async () => {
    const { see, act, list } = setUp()
    see({}, { kind: 'phone', example: '+1 506 234 5678' })
    expect((await act({ ...about, action: 'ignore', note: 'a test account' })).body).toEqual({ ok: true })
    const ignored = { action: 'ignore', note: 'a test account', issueId: null }
    expect((await list()).findings).toMatchObject([ignored, ignored])
    see({ count: 2 })
    expect((await list('?kind=email')).findings).toMatchObject([{ ...ignored, count: 3 }])
    await act({ ...about, action: 'watch', kind: 'email' })
    expect((await list('?action=watch')).findings).toMatchObject([{ kind: 'email', note: 'a test account' }])
  })

  test.each(['no_signal', 'not_set', 'no_default', 'granted_by_default', 'after_denial', 'update_rate'])(
    '"file" accepts a consent finding: %s',
    async (kind) => {
      const { db, see, act, list, people } = setUp()
      updateOrg(db, people.orgId, { consentOptIn: true })
      see({ key: '$consent', kind, example: 'Requests carried no consent signal' })
      const { body } = await act({ vendor: 'GA4', key: '$consent', kind, action: 'file' })
      expect(findIssue(db, people.orgId, body.issueId)).toMatchObject({ alertType: 'data_validation', status: 'open' })
      expect((await list('', 'consent')).findings).toMatchObject([{ kind, action: 'file', issueId: body.issueId }])
    },
  )

  test.each([
    ['an unknown action', { ...about, action: 'delete' }, 400],
    ['an unknown key', { ...about, key: 'ep.other', action: 'file' }, 404],
    ['an unknown vendor', { ...about, vendor: 'Meta', action: 'ignore' }, 404],
    ['an unknown kind', { ...about, kind: 'iban', action: 'watch' }, 404],
    ['a missing key', { vendor: 'GA4', action: 'watch' }, 400],
  ])('are rejected: %s', async (_, body, status) => {
    const { see, act } = setUp()
    see({})
    expect((await act(body)).status).toBe(status)
  })

  test('are limited to members of the organization', async () => {
    const { see, act, people } = setUp()
    see({})
    expect((await act({ ...about, action: 'ignore' }, people.vera.key)).status).toBe(403)
    expect((await act({ ...about, action: 'ignore' }, people.mallory.key)).status).toBe(404)
  })
})

describe('all findings', () => {
  const body = (findings: object[], action = 'ignore') => ({ action, findings })

  test('are grouped by vendor, page and kind, those with most undecided findings first', async () => {
    const { see, call, people, act, shop } = setUp()
    see(
      { key: 'a', paths: ['/product/4711', '/product/4712', '/cart'] },
      { key: 'b', paths: ['/cart'] },
      { vendor: 'Meta', key: 'c', kind: 'phone', example: '+1 506 234 5678', paths: [null] },
      { vendor: 'Meta', key: '$consent', kind: 'no_signal', example: 'no signal' },
    )
    await act({ action: 'ignore', vendor: 'Meta', key: 'c' })
    const groups = async (query: string) =>
      (await call('GET', `/v1/compliance/groups?${query}`, { as: people.vera.key })).body.groups.map(
        ({ value, findings, undecided }: Record<string, unknown>) => [value, findings, undecided],
      )
    expect(await groups('by=vendor')).toEqual([
      ['GA4', 2, 2],
      ['Meta', 2, 1],
    ])
    expect(await groups('by=page')).toEqual([
      ['/cart', 2, 2],
      ['', 2, 1],
      ['/product/:id', 1, 1],
    ])
    expect(await groups('by=kind&vendor=Meta')).toEqual([
      ['no_signal', 1, 1],
      ['phone', 1, 0],
    ])
    expect(await groups(`by=page&page=/cart&domainId=${shop}`)).toEqual([['/cart', 2, 2]])
    expect(await groups('by=vendor&action=ignore')).toEqual([['Meta', 1, 0]])
    expect((await call('GET', '/v1/compliance/groups?by=colour', { as: people.vera.key })).status).toBe(400)
    expect((await call('GET', '/v1/compliance/groups?by=vendor', { as: people.mallory.key })).body.groups).toEqual([])
  })

  test('are listed together and filtered by page and text', async () => {
    const { see, list } = setUp()
    see(
      { key: 'a', paths: ['/cart', '/thanks'] },
      { vendor: 'Meta', key: 'b_c' },
      { key: '$consent', kind: 'no_signal', example: '12 % of requests', paths: ['/cart'] },
    )
    const keys = async (query: string) =>
      (await list(query, 'findings')).findings.map(({ key }: { key: string }) => key).sort()
    expect(await keys('')).toEqual(['$consent', 'a', 'b_c'])
    expect(await keys('?page=/cart')).toEqual(['$consent', 'a'])
    expect(await keys('?page=')).toEqual(['b_c'])
    expect(await keys('?q=META')).toEqual(['b_c'])
    expect(await keys('?q=b_')).toEqual(['b_c'])
    expect(await keys('?q=b%25')).toEqual([])
    expect(await keys('?q=thank')).toEqual(['a'])
    expect(await keys('?q=12')).toEqual(['$consent'])
    const { findings } = await list('?q=thank', 'findings')
    expect(findings[0].pages.toSorted()).toEqual(['/cart', '/thanks'])
  })

  test('have at most 50 pages, of which the five most recent are listed, masked', async () => {
    const { see, list, clock, db } = setUp()
    for (let n = 0; n < 60; n++) {
      clock.advance(1000)
      see({ paths: [`/section-${'abcdefghij'[n % 10]}${'abcdefghij'[Math.floor(n / 10)]}`] })
    }
    clock.advance(1000)
    see({ paths: ['/section-aa'] })
    const { pages } = (await list()).findings[0]
    expect(pages).toHaveLength(5)
    expect(pages[0]).toBe('/section-aa')
    expect(db.prepare('SELECT count(*) AS count FROM findingPage').get()).toEqual({ count: 50 })
    see({ key: 'other', paths: ['/of/jane.doe@mail.example.com'] })
    expect((await list('?q=other')).findings.find(({ key }: { key: string }) => key === 'other').pages).toEqual([
      '/of/:id',
    ])
  })

  test('are decided in bulk, each independently of the others', async () => {
    const { see, list, call, people, changed } = setUp()
    see({ key: 'a' }, { key: 'b' }, { key: 'c', vendor: 'Meta' })
    const bulk = (input: object, as = people.bob.key) =>
      call('POST', '/v1/compliance/findings/bulk', { as, body: input })
    const [a, b, gone] = ['a', 'b', 'gone'].map((key) => ({ vendor: 'GA4', key, kind: 'email' }))
    const answer = await bulk({ ...body([a, gone, b] as object[]), note: 'test accounts' })
    expect(answer.body).toEqual({ updated: 2, failed: 1, errors: [{ index: 1, error: 'no such finding' }] })
    const ofAction = async (action: string) =>
      (await list(`?action=${action}`)).findings.map(({ key, note }: Record<string, unknown>) => [key, note]).sort()
    expect(await ofAction('ignore')).toEqual([
      ['a', 'test accounts'],
      ['b', 'test accounts'],
    ])
    const filed = await bulk(body([a, { vendor: 'Meta', key: 'c', kind: 'email' }] as object[], 'file'))
    expect(filed.body).toEqual({ updated: 2, failed: 0, errors: [] })
    expect(new Set(changed).size).toBe(2)
    expect((await ofAction('file')).map(([key]: unknown[]) => key)).toEqual(['a', 'c'])
    expect((await bulk(body([a] as object[]), people.vera.key)).status).toBe(403)
    expect((await bulk(body([a] as object[]), people.mallory.key)).body).toMatchObject({ updated: 0, failed: 1 })
    expect((await bulk(body([]))).status).toBe(400)
  })
})
