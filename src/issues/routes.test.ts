import { describe, expect, test } from 'bun:test'
import { client, testBox } from '../../test/fixtures.ts'
import { ROLES } from '../contract/roles.ts'
import { AppError } from '../core/error.ts'
import type { Principal } from '../http/principal.ts'
import { databaseWithOrgs, evaluationOf, findingOf, NOON } from './issue.fixture.ts'
import type { NotificationRequest } from './issue.ts'
import { issueRoutes } from './routes.ts'
import { applyFindings, issuesOfAlert } from './store.ts'

/**
 * Takes the principal from the request's authorization: `role`, `role read-only` or `role elsewhere`. Rejects requests
 * without it.
 */
function authenticate(headers: Headers): Principal {
  const [word, trait] = (headers.get('authorization') ?? '').split(' ')
  const role = ROLES.find((known) => known === word)
  if (!role) throw new AppError('unauthorized', 'sign in first')
  const orgId = trait === 'elsewhere' ? 'org_b' : 'org_a'
  return {
    via: 'key',
    userId: `usr_${role}`,
    orgId,
    role,
    readOnly: trait === 'read-only',
    keyId: null,
    sessionId: null,
  }
}

function start() {
  const db = databaseWithOrgs()
  const orders: NotificationRequest[] = []
  const bugs: unknown[] = []
  const clock = { now: () => NOON }
  const enqueue = (order: NotificationRequest) => void orders.push(order)
  applyFindings(
    db,
    evaluationOf({ findings: [findingOf(), findingOf({ subject: 'b', domainId: null, hosts: [] })] }),
    enqueue,
  )
  const ids = issuesOfAlert(db, 'alr_volume', NOON).map((issue) => issue.id)
  const call = client({ db, clock, authenticate }, ...issueRoutes({ db, box: testBox, clock, enqueue }))
  return {
    ids,
    orders,
    bugs,
    async ask(caller: string, method: string, path: string, body?: unknown) {
      const headers = caller ? { authorization: caller } : {}
      const answer = await call(method, `/v1${path}`, { headers, ...(body === undefined ? {} : { body }) })
      return { status: answer.status, body: answer.body as Record<string, unknown> }
    },
  }
}

const READS = ['/issues', '/issues/ID']
const WRITES = [
  ['PATCH', '/issues/ID', { status: 'acknowledged' }],
  ['PATCH', '/issues/ID', { notes: 'seen' }],
  ['POST', '/issues/bulk', { ids: ['ID'], status: 'resolved' }],
] as const

describe('permissions', () => {
  test.each([
    ['', 401, 401],
    ['viewer', 200, 403],
    ['viewer read-only', 200, 403],
    ['member', 200, 200],
    ['member read-only', 200, 403],
    ['admin', 200, 200],
    ['owner', 200, 200],
    ['owner read-only', 200, 403],
  ])('of %p: read %d, write %d', async (caller, reading, writing) => {
    const { ask, ids, bugs, orders } = start()
    const [id = ''] = ids
    for (const path of READS) expect((await ask(caller, 'GET', path.replace('ID', id))).status).toBe(reading)
    const before = orders.length
    for (const [method, path, body] of WRITES) {
      const text = JSON.stringify(body).replace('ID', id)
      expect((await ask(caller, method, path.replace('ID', id), JSON.parse(text))).status).toBe(writing)
    }
    expect(orders.length).toBe(writing === 200 ? before + 1 : before)
    expect(bugs).toEqual([])
  })

  test('do not include issues of another organization', async () => {
    const { ask, ids } = start()
    const [id = ''] = ids
    const missing = { status: 404, body: { error: `id: issue ${id} does not exist` } }
    expect(await ask('owner elsewhere', 'GET', `/issues/${id}`)).toEqual(missing)
    expect(await ask('owner elsewhere', 'PATCH', `/issues/${id}`, { notes: 'x' })).toEqual(missing)
    expect((await ask('owner elsewhere', 'GET', '/issues')).body).toEqual({
      issues: [],
      nextCursor: null,
      openCounts: { critical: 0, high: 0, medium: 0, low: 0 },
      dailyCounts: {},
    })
  })
})

test.each([
  ['GET', '/issues?limit=0', undefined, 400, 'must be at least 1'],
  ['GET', '/issues?limit=201', undefined, 400, 'must be at most 200'],
  ['GET', '/issues?limit=1.5', undefined, 400, 'must be a whole number'],
  ['GET', '/issues?status=closed', undefined, 400, 'query.status: must be one of open, acknowledged, resolved, muted'],
  ['GET', '/issues?severity=worst', undefined, 400, 'query.severity'],
  ['GET', '/issues?alertType=other', undefined, 400, 'query.alertType'],
  ['GET', '/issues?sort=notes', undefined, 400, 'query.sort'],
  ['GET', '/issues?since=yesterday', undefined, 400, 'query.since'],
  ['GET', '/issues?colour=red', undefined, 400, 'query.colour'],
  ['GET', '/issues?status=open,closed', undefined, 400, 'query.status: must be one of open, acknowledged'],
  ['GET', '/issues?status=open,', undefined, 400, 'query.status: must be one of open, acknowledged'],
  ['GET', '/issues?severity=', undefined, 400, 'query.severity'],
  ['GET', '/issues?projectId=prj_none', undefined, 404, 'no such project'],
  ['GET', '/issues?cursor=xyz', undefined, 400, 'cursor: is not valid for this list'],
  ['GET', '/issues/iss_none', undefined, 404, 'issue iss_none does not exist'],
  ['PATCH', '/issues/iss_none', { status: 'open' }, 404, 'issue iss_none does not exist'],
  ['PATCH', '/issues/ID', { status: 'closed' }, 400, 'status: must be one of'],
  ['PATCH', '/issues/ID', { notes: 'x'.repeat(2001) }, 400, 'notes'],
  ['PATCH', '/issues/ID', { severity: 'low' }, 400, 'severity'],
  ['PATCH', '/issues/ID', { status: 'muted', mutedUntil: NOON }, 400, 'mutedUntil: must be in the future'],
  ['PATCH', '/issues/ID', { status: 'muted', mutedUntil: 'never' }, 400, 'mutedUntil'],
  ['PATCH', '/issues/ID', { status: 'muted', mutedUntil: NOON + 0.5 }, 400, 'mutedUntil'],
  ['PATCH', '/issues/ID', { mutedUntil: NOON + 9 }, 400, 'mutedUntil: requires `status: "muted"`'],
  ['PATCH', '/issues/ID', { status: 'open', muteReason: 'known' }, 400, 'muteReason: requires `status: "muted"`'],
  ['PATCH', '/issues/ID', { mutedHosts: ['shop.example'] }, 400, 'mutedHosts: requires `status: "muted"`'],
  ['PATCH', '/issues/ID', { status: 'muted', muteReason: 'x'.repeat(501) }, 400, 'muteReason'],
  ['PATCH', '/issues/ID', { status: 'muted', muteReason: 7 }, 400, 'muteReason'],
  ['PATCH', '/issues/ID', { status: 'muted', mutedHosts: 'shop.example' }, 400, 'mutedHosts'],
  ['PATCH', '/issues/ID', { status: 'muted', mutedHosts: ['a b'] }, 400, 'mutedHosts[0]: is not a hostname'],
  ['PATCH', '/issues/ID', { status: 'muted', mutedHosts: ['a.example', 'https://b.example/'] }, 400, 'mutedHosts[1]'],
  ['PATCH', '/issues/ID', { status: 'muted', mutedHosts: Array(21).fill('a.example') }, 400, 'mutedHosts'],
  ['PATCH', '/issues/ID', [], 400, 'body'],
  ['POST', '/issues/bulk', { ids: [], status: 'open' }, 400, 'ids'],
  ['POST', '/issues/bulk', { ids: Array(501).fill('iss_1'), status: 'open' }, 400, 'ids'],
  ['POST', '/issues/bulk', { ids: ['iss_1'], status: 'muted' }, 400, 'status: must be one of open, acknowledged'],
  ['POST', '/issues/bulk', { ids: [7], status: 'open' }, 400, 'ids[0]'],
  ['POST', '/issues/bulk', { status: 'open' }, 400, 'ids'],
] as const)('%s %s %j is rejected', async (method, path, body, status, message) => {
  const { ask, ids, bugs } = start()
  const answer = await ask('member', method, path.replace('ID', ids[0] ?? ''), body)
  expect(answer).toEqual({ status, body: { error: expect.stringContaining(message) } })
  expect(bugs).toEqual([])
})

test('the issue list returns open counts and continues from its cursor', async () => {
  const { ask, ids } = start()
  const first = await ask('viewer', 'GET', '/issues?limit=1&sort=lastSeenAt&status=open,muted&since=0')
  expect(first.body).toMatchObject({ openCounts: { critical: 0, high: 2, medium: 0, low: 0 } })
  const second = await ask('viewer', 'GET', `/issues?limit=1&sort=lastSeenAt&cursor=${first.body.nextCursor}`)
  expect(second.body.nextCursor).toBeNull()
  const pages = [first, second].flatMap(({ body }) => body.issues as { id: string; hosts: string[] | null }[])
  expect(pages.map((issue) => issue.id).sort()).toEqual([...ids].sort())
  expect(Object.keys(pages[0] ?? {}).sort()).toEqual(
    [
      'alertId',
      'alertType',
      'assigneeId',
      'capReached',
      'commentCount',
      'firstSeenAt',
      'hosts',
      'id',
      'impactValue',
      'lastSeenAt',
      'notes',
      'notificationsSent',
      'occurrences',
      'severity',
      'status',
      'title',
      'trackerKey',
    ].sort(),
  )
})

test('users change the status of an issue, and the history records who did', async () => {
  const { ask, ids, orders } = start()
  const [id = ''] = ids
  const steps = [
    ['member', { status: 'acknowledged', notes: 'looking' }],
    ['admin', { status: 'muted' }],
    ['admin', { status: 'open' }],
    ['owner', { status: 'resolved' }],
    ['owner', { status: 'open' }],
    ['owner', {}],
  ] as const
  for (const [caller, body] of steps) {
    const { status, body: issue } = await ask(caller, 'PATCH', `/issues/${id}`, body)
    expect([status, issue]).toEqual([200, expect.objectContaining({ id, ...body })])
  }
  const { body: issue } = await ask('viewer', 'GET', `/issues/${id}`)
  const history = issue.history as { kind: string; payload: { by?: string } }[]
  expect(history.map(({ kind, payload }) => [kind, payload.by])).toEqual([
    ['opened', undefined],
    ['note', 'usr_member'],
    ['acknowledged', 'usr_member'],
    ['muted', 'usr_admin'],
    ['unmuted', 'usr_admin'],
    ['resolved', 'usr_owner'],
    ['reopened', 'usr_owner'],
  ])
  const notices = orders
    .filter((order) => order.issueId === id)
    .map((order) => ('transition' in order ? order : order.kind))
  expect(notices).toEqual([
    expect.objectContaining({ transition: 'opened', delayMs: 0 }),
    expect.objectContaining({ transition: 'resolved', delayMs: 10_000 }),
    'withdraw',
  ])
  const refused = await ask('member', 'PATCH', `/issues/${ids[1]}`, { status: 'muted' })
  expect(refused.status).toBe(200)
  expect(await ask('member', 'PATCH', `/issues/${ids[1]}`, { status: 'acknowledged' })).toMatchObject({ status: 409 })
})

test('a bulk update lists the issues that it could not change', async () => {
  const { ask, ids } = start()
  const answer = await ask('member', 'POST', '/issues/bulk', { ids: [ids[0], 'iss_none', ids[1]], status: 'resolved' })
  expect(answer).toEqual({
    status: 200,
    body: { updated: 2, failed: 1, errors: [{ index: 1, error: 'id: issue iss_none does not exist' }] },
  })
})
