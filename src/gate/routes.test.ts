import { describe, expect, test } from 'bun:test'
import { cast, client, memoryDb, testClock } from '../../test/fixtures.ts'
import { changeRoutes } from '../changes/routes.ts'
import { PLAIN_PRIVACY } from '../conditions/privacy-settings.ts'
import { DAY_MS } from '../core/clock.ts'
import { createDomain, deleteDomain } from '../domains/store.ts'
import { type GateReport, REPORT_EXAMPLE } from './report.ts'
import { gateRoutes } from './routes.ts'
import { gateRunsOf, removeOldGateRuns } from './store.ts'

function setUp() {
  const db = memoryDb()
  const clock = testClock()
  const people = cast(db, clock)
  const privacyOf = () => PLAIN_PRIVACY
  const call = client(
    { db, clock },
    ...gateRoutes({ db, clock, privacyOf }),
    ...changeRoutes({
      db,
      clock,
      retentionMs: 90 * DAY_MS,
      privacyOf,
      gateRunsOf: (orgId, changes) => gateRunsOf(db, orgId, changes),
    }),
  )
  const { orgId } = people
  const domainId = createDomain(db, clock, orgId, { name: 'Shop' })
  const report = { ...REPORT_EXAMPLE, domainId }
  const passed: GateReport = {
    ...report,
    status: 'passed',
    findings: [],
    checks: report.checks.map((check) => ({ ...check, status: 'passed' as const })),
  }
  const post = (body: object = report, as = people.bob.key) => call('POST', '/v1/gate-runs', { as, body })
  const list = async (query = '', as = people.vera.key) =>
    (await call('GET', `/v1/gate-runs?${query}`, { as })).body.runs.map(({ id }: { id: string }) => id)
  const approve = (id: string, body?: object, as = people.bob.key) =>
    call('POST', `/v1/gate-runs/${id}/approve`, body ? { as, body } : { as })
  return { db, clock, people, orgId, domainId, call, report, passed, post, list, approve }
}

describe('a run', () => {
  test('is stored, read and listed', async () => {
    const { call, people, post, list, report } = setUp()
    const { status, body } = await post()
    expect({ status, body }).toMatchObject({
      status: 201,
      body: { name: 'checkout', ref: '8f2c1ab', status: 'failed', problems: 1, approvedAt: null, report },
    })
    expect((await call('GET', `/v1/gate-runs/${body.id}`, { as: people.vera.key })).body).toEqual(body)
    expect(await list()).toEqual([body.id])
    expect(await list('name=checkout&status=failed&approved=false')).toEqual([body.id])
    expect(await list('name=other')).toEqual([])
    expect(await list('approved=true')).toEqual([])
  })

  test('has the status that its findings demand', async () => {
    const { post, report } = setUp()
    const { body } = await post({ ...report, status: 'passed' })
    expect([body.status, body.report.status]).toEqual(['failed', 'failed'])
  })

  test.each<[object, number, string]>([
    [{ domainId: 'dom_none' }, 404, 'domainId: no such domain'],
    [{ findings: [{ ...REPORT_EXAMPLE.findings[0], check: 7 }] }, 400, 'findings[0].check: there is no such check'],
    [{ format: 'other' }, 400, 'format: '],
    [{ colour: 1 }, 400, 'colour: '],
  ])('is refused with %j', async (values, status, error) => {
    const { post, report } = setUp()
    const answer = await post({ ...report, ...values })
    expect(answer).toMatchObject({ status, body: { error: expect.stringContaining(error) } })
  })

  test('shows no personal data that another program sent', async () => {
    const { post, list, call, people, report } = setUp()
    const [finding] = report.findings
    const { body } = await post({
      ...report,
      name: 'jane.doe@example.com',
      findings: [{ ...finding, sentence: 'sent jane.doe@example.com', expected: 'jane.doe@example.com' }],
    })
    const [id] = await list()
    const read = (await call('GET', `/v1/gate-runs/${id}`, { as: people.vera.key })).body
    expect(JSON.stringify([body, read])).not.toContain('jane.doe')
  })

  test('of another organization is not found', async () => {
    const { call, people, post, approve, list } = setUp()
    const { body } = await post()
    const as = people.mallory.key
    expect((await call('GET', `/v1/gate-runs/${body.id}`, { as })).status).toBe(404)
    expect((await approve(body.id, {}, as)).status).toBe(404)
    expect(await list('', as)).toEqual([])
  })

  test('survives its domain', async () => {
    const { db, orgId, domainId, post, list } = setUp()
    const { body } = await post()
    deleteDomain(db, { orgId, id: domainId })
    expect(await list()).toEqual([body.id])
  })
})

describe('an approved run', () => {
  test('is the baseline until the approval is withdrawn', async () => {
    const { clock, passed, post, approve, list } = setUp()
    const first = (await post(passed)).body.id
    clock.advance(1000)
    const second = (await post(passed)).body.id
    expect((await approve(first)).body.approvedAt).toBe(clock.now())
    clock.advance(1000)
    await approve(second, { approved: true })
    expect(await list('approved=true&limit=1')).toEqual([second])
    await approve(second, { approved: false })
    expect(await list('approved=true')).toEqual([first])
  })

  test('may only differ from its own baseline', async () => {
    const { report, post, approve } = setUp()
    const failed = (await post()).body.id
    expect(await approve(failed)).toMatchObject({ status: 409, body: { error: expect.stringContaining('violates') } })
    const differs = { ...report, checks: report.checks.map((check) => ({ ...check, kind: 'baseline' })) }
    expect((await approve((await post(differs)).body.id)).status).toBe(200)
  })

  test('is kept longer than others', async () => {
    const { db, clock, passed, post, approve, list } = setUp()
    const kept = (await post(passed)).body.id
    await post(passed)
    await approve(kept)
    removeOldGateRuns(db, clock.now() + 401 * DAY_MS)
    expect(await list()).toEqual([kept])
  })
})

describe('a change', () => {
  test.each<[string, string | null, { source: string; ref: string; title: string }, boolean]>([
    ['the same ref', 'abc', { source: 'ci', ref: 'abc', title: 'x' }, true],
    ['an abbreviated commit', '8f2c1ab9d0', { source: 'ci', ref: '8f2c1ab', title: 'x' }, true],
    ['another commit', '8f2c1ab9d0', { source: 'ci', ref: '8f2c1ac', title: 'x' }, false],
    ['a version in the traffic', 'v42', { source: 'version', ref: '42', title: 'Version 42' }, true],
    ['a title that names the version', '42', { source: 'ci', ref: 'deploy-9', title: 'Release 42' }, true],
    ['another version', 'v42', { source: 'version', ref: '43', title: 'Version 43' }, false],
    ['no ref', null, { source: 'ci', ref: 'abc', title: 'x' }, false],
  ])('shows the run for %s', async (_, ref, change, isShown) => {
    const { db, orgId, domainId, call, people, passed, post, list } = setUp()
    const run = (await post({ ...passed, ref })).body
    const sent = { id: 'chg_1', domainId, ...change }
    expect([...gateRunsOf(db, orgId, [sent]).values()].map(({ id }) => id)).toEqual(isShown ? [run.id] : [])
    if (change.source === 'version') return
    const posted = await call('POST', '/v1/changes', { as: people.bob.key, body: { domainId, ...change } })
    const { id, status, problems, createdAt } = run
    const [listed] = (await call('GET', '/v1/changes', { as: people.vera.key })).body.changes
    for (const shown of [posted.body, listed]) {
      expect(shown.gateRun).toEqual(isShown ? { id, status, problems, createdAt } : undefined)
    }
    expect(await list(`changeId=${listed.id}`)).toEqual(isShown ? [id] : [])
  })

  test('of another domain has no run', async () => {
    const { db, clock, orgId, passed, post } = setUp()
    const other = createDomain(db, clock, orgId, { name: 'Blog' })
    await post(passed)
    const change = { id: 'chg_1', domainId: other, source: 'ci', ref: '8f2c1ab', title: 'x' }
    expect(gateRunsOf(db, orgId, [change]).size).toBe(0)
    await post({ ...passed, domainId: null })
    expect(gateRunsOf(db, orgId, [change]).size).toBe(1)
  })

  test('must exist to be asked for', async () => {
    const { call, people } = setUp()
    expect((await call('GET', '/v1/gate-runs?changeId=chg_none', { as: people.vera.key })).status).toBe(404)
  })
})
