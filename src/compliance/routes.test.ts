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
