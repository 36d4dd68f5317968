import { expect, test } from 'bun:test'
import type { Role } from '../../src/contract/roles.ts'
import { MINUTE_MS } from '../../src/core/clock.ts'
import { issueOfAlert, validationAlert } from '../../src/issues/issue.fixture.ts'
import { applyChanges } from '../../src/issues/store.ts'
import { createKey } from '../../src/org/api-key-store.ts'
import { addMember, createUser } from '../../src/org/store.ts'
import { tx } from '../../src/store/database.ts'
import { mailbox, receiver } from '../../src/transport/receiver.fixture.ts'
import { type TestApp, testApp } from '../test-app.ts'

/* Tests assignment, comments and ownership rules end to end: over HTTP, in the database and over SMTP. */

/** Starts the program with a mail server, a domain and members. */
async function office() {
  const post = await mailbox()
  const world = await testApp({
    smtpUrl: `smtp://127.0.0.1:${post.port}`,
    mailFrom: 'watch@example.com',
    outboundAllow: '127.0.0.1',
  })
  const person = (name: string, role: Role, orgId = world.owner.orgId) => {
    const { db } = world.app
    const { id } = createUser(db, world.clock, { email: `${name.toLowerCase()}@example.com`, name })
    addMember(db, world.clock, { orgId, userId: id, role })
    const { secret } = createKey(db, world.clock, { userId: id, orgId, name, expiresInDays: null })
    return { id, key: secret }
  }
  const people = { ann: person('Ann', 'member'), ben: person('Ben', 'member'), vera: person('Vera', 'viewer') }
  const { body: domain } = await world.call('POST', '/v1/domains', { body: { name: 'Shop' } })
  let batches = 0
  return {
    ...people,
    person,
    post,
    world,
    domain,
    /** Creates an alert for events of this name without a value. */
    alert: (event: string, channels: object[] = [{ type: 'email', target: 'team@example.com' }]) =>
      world.call('POST', '/v1/alerts', {
        body: {
          name: `${event} has a value`,
          alertType: 'data_validation',
          conditions: { logic: 'any', items: [{ parameter: 'value', op: 'is_blank' }] },
          filters: [{ parameter: '$event', op: 'equals', values: [event] }],
          period: '1h',
          channels,
        },
      }),
    /** Sends a violating event from a page and returns the issue. */
    async violate(event: string, path = '/checkout/pay') {
      await world.collect(domain.token, {
        batchId: `ownership-${++batches}`,
        page: { url: `https://shop.example${path}` },
        events: [{ vendor: 'Meta Pixel', event, params: { value: '' } }],
      })
      await world.at(world.clock.now() + MINUTE_MS)
      const { body } = await world.call('GET', `/v1/issues?q=${event}`)
      expect(body.issues).toHaveLength(1)
      return body.issues[0]
    },
    /** Sends the pending e-mails and returns those to this address, as subjects. */
    async mailsTo(name: string): Promise<string[]> {
      await world.run('deliver')
      await world.app.idle()
      return post.mails
        .filter(({ to }) => to.includes(`${name}@example.com`))
        .map(({ source }) => /^Subject: (.*(?:\r\n .*)*)/m.exec(source)?.[1]?.replaceAll('\r\n', '') ?? '')
    },
    setRules: (rules: object[], as?: string) =>
      world.call('PUT', '/v1/org/ownership', { body: { rules }, ...(as ? { as } : {}) }),
    async [Symbol.asyncDispose]() {
      await world[Symbol.asyncDispose]()
      await post[Symbol.asyncDispose]()
    },
  }
}

const historyOf = async (world: TestApp, id: string, kind: string) =>
  (await world.call('GET', `/v1/issues/${id}`)).body.history
    .filter((entry: { kind: string }) => entry.kind === kind)
    .map(({ payload }: { payload: object }) => payload)

test('an issue is assigned by hand, and only the assignee is notified, once', async () => {
  await using here = await office()
  const { world, ann, ben, vera } = here
  await here.alert('purchase')
  const { id, assigneeId } = await here.violate('purchase')
  expect(assigneeId).toBeNull()
  const patch = (body: object, as = ben.key) => world.call('PATCH', `/v1/issues/${id}`, { as, body })
  expect((await patch({ assigneeId: ann.id })).body.assigneeId).toBe(ann.id)
  await patch({ assigneeId: ann.id })
  expect(await here.mailsTo('ann')).toEqual([expect.stringContaining('Assigned to you')])
  expect(await historyOf(world, id, 'assigned')).toEqual([{ by: ben.id, assigneeId: ann.id }])
  expect((await patch({ assigneeId: ben.id })).status).toBe(200)
  expect(await here.mailsTo('ben')).toEqual([])

  const list = async (query: string, as = ben.key) =>
    (await world.call('GET', `/v1/issues?assigneeId=${query}`, { as })).body.issues.length
  expect([await list('me'), await list('me', ann.key), await list('none'), await list(ben.id)]).toEqual([1, 0, 0, 1])
  expect(await list(`none,${ben.id}`)).toBe(1)
  expect((await patch({ assigneeId: null })).body.assigneeId).toBeNull()
  expect(await list('none')).toBe(1)

  const { body: elsewhere } = await world.call('POST', '/v1/orgs', { body: { name: 'Elsewhere' } })
  const stranger = here.person('Mallory', 'member', elsewhere.id)
  for (const wrong of [stranger.id, 'usr_none', '']) {
    const refused = await patch({ assigneeId: wrong })
    expect(refused).toMatchObject({ status: 400, body: { error: 'assigneeId: is not a member of the organization' } })
  }
  expect((await patch({ assigneeId: null }, stranger.key)).status).toBe(404)
  expect((await patch({ assigneeId: null }, vera.key)).status).toBe(403)
  const bulk = await world.call('POST', '/v1/issues/bulk', { body: { ids: [id, 'iss_none'], assigneeId: vera.id } })
  expect(bulk.body).toMatchObject({ updated: 1, failed: 1 })
  expect((await world.call('POST', '/v1/issues/bulk', { body: { ids: [id] } })).status).toBe(400)
  expect((await world.call('DELETE', `/v1/org/members/${vera.id}`)).status).toBe(200)
  expect((await world.call('GET', `/v1/issues/${id}`)).body.assigneeId).toBeNull()
})

test('acknowledging assigns an unassigned issue to the person who does it', async () => {
  await using here = await office()
  const { world, ann, ben } = here
  await here.alert('purchase')
  const { id } = await here.violate('purchase')
  const patch = (body: object, as: string) => world.call('PATCH', `/v1/issues/${id}`, { as, body })
  expect((await patch({ status: 'acknowledged' }, ann.key)).body.assigneeId).toBe(ann.id)
  await patch({ status: 'open' }, ben.key)
  expect((await patch({ status: 'acknowledged' }, ben.key)).body.assigneeId).toBe(ann.id)
  await patch({ status: 'open', assigneeId: null }, ben.key)
  expect((await patch({ status: 'acknowledged', assigneeId: null }, ben.key)).body.assigneeId).toBeNull()
  expect(await here.mailsTo('ann')).toEqual([])
})

test('deleting a domain resolves its issues, and only those', async () => {
  await using here = await office()
  const { world, domain, ann } = here
  await here.alert('purchase')
  const { id } = await here.violate('purchase')
  const { body: other } = await world.call('POST', '/v1/domains', { body: { name: 'Other' } })
  await world.call('PUT', '/v1/orders/capture', { body: { rules: [{ domainId: domain.id, vendor: 'Meta Pixel' }] } })
  const now = world.clock.now()
  const open = (issueId: string, alertId: string, domainId: string) => {
    const issue = { ...issueOfAlert({ ...validationAlert, orgId: world.owner.orgId }), id: issueId, alertId, domainId }
    tx(world.app.db, () =>
      applyChanges(world.app.db, [{ kind: 'open', issue: { ...issue, firstSeenAt: now, lastSeenAt: now } }], () => {}),
    )
  }
  const [{ id: ruleId }] = (await world.call('GET', '/v1/orders/capture')).body.rules
  open('iss_rule', ruleId, domain.id)
  open('iss_feed', domain.id, domain.id)
  open('iss_other', 'alr_other', other.id)
  expect((await world.call('DELETE', `/v1/domains/${domain.id}`, { as: ann.key })).status).toBe(403)
  const statusOf = async (issueId: string) => (await world.call('GET', `/v1/issues/${issueId}`)).body.status
  expect(await statusOf('iss_feed')).toBe('open')
  expect((await world.call('DELETE', `/v1/domains/${domain.id}`)).status).toBe(200)
  expect(await Promise.all([id, 'iss_rule', 'iss_feed', 'iss_other'].map(statusOf))).toEqual([
    'resolved',
    'resolved',
    'resolved',
    'open',
  ])
  expect((await world.call('DELETE', `/v1/domains/${domain.id}`)).status).toBe(404)
})

test('a comment is stored, and mentioned members are notified once', async () => {
  await using here = await office()
  const { world, ann, ben, vera } = here
  await here.alert('purchase')
  const { id } = await here.violate('purchase')
  const path = `/v1/issues/${id}/comments`
  const write = (body: string, as = ben.key) => world.call('POST', path, { as, body: { body } })
  const first = await write('@Ann and @ann@example.com: see @Ben')
  expect(first.status).toBe(201)
  expect(first.body.comments).toEqual([
    {
      id: expect.stringMatching(/^cmt_/),
      userId: ben.id,
      name: 'Ben',
      body: '@Ann and @ann@example.com: see @Ben',
      createdAt: world.clock.now(),
    },
  ])
  expect(await here.mailsTo('ann')).toEqual([expect.stringContaining('Mentioned you')])
  expect(await here.mailsTo('ben')).toEqual([])
  expect(here.post.mails.at(-1)?.source).toContain('see @Ben')
  for (const body of ['', '  \n', 'a'.repeat(2001)]) {
    expect(await write(body)).toMatchObject({ status: 400, body: { error: expect.stringMatching(/^body: /) } })
  }
  expect((await write('no', vera.key)).status).toBe(403)
  await write('second')
  const read = await world.call('GET', `${path}?limit=1`, { as: vera.key })
  expect(read.body).toMatchObject({ comments: [{ body: 'second' }] })
  const rest = await world.call('GET', `${path}?cursor=${read.body.nextCursor}`, { as: vera.key })
  expect(rest.body).toMatchObject({ comments: [{ userId: ben.id }], nextCursor: null })
  expect((await world.call('DELETE', `${path}/${read.body.comments[0].id}`, { as: ann.key })).status).toBe(403)
  expect((await world.call('DELETE', `${path}/${read.body.comments[0].id}`, { as: ben.key })).status).toBe(200)
  expect((await world.call('DELETE', `${path}/${read.body.comments[0].id}`, { as: ben.key })).status).toBe(404)
  expect((await world.call('GET', `/v1/issues/${id}`)).body.commentCount).toBe(1)
  expect(await historyOf(world, id, 'commented')).toHaveLength(2)
  const { body: elsewhere } = await world.call('POST', '/v1/orgs', { body: { name: 'Elsewhere' } })
  const stranger = here.person('Mallory', 'member', elsewhere.id)
  expect((await world.call('GET', path, { as: stranger.key })).status).toBe(404)
  expect((await write('hello', stranger.key)).status).toBe(404)
})

test('the first rule that matches assigns an issue and adds its channels', async () => {
  await using hook = receiver()
  await using here = await office()
  const { world, ann, ben, vera, domain } = here
  const channels = [
    { type: 'email', target: 'team@example.com' },
    { type: 'webhook', target: `${hook.url}/secret-path` },
  ]
  const rules = [
    { match: { domainId: domain.id, pathPrefix: '/blog/' }, assigneeId: ben.id, channels: [] },
    { match: { vendor: 'Meta Pixel', pathPrefix: '/checkout/' }, assigneeId: ann.id, channels },
    { match: {}, assigneeId: ben.id, channels: [] },
  ]
  expect(await here.setRules(rules)).toMatchObject({ status: 200, body: { rules } })
  const seen = await world.call('GET', '/v1/org/ownership', { as: vera.key })
  expect(JSON.stringify(seen.body)).not.toContain('secret-path')
  expect(seen.body.rules[1].channels[0].target).not.toContain('team@')
  expect(JSON.stringify(world.app.db.prepare('SELECT channels FROM ownershipRule').all())).not.toContain('secret-path')

  await here.alert('purchase')
  const issue = await here.violate('purchase')
  expect(issue.assigneeId).toBe(ann.id)
  expect(await historyOf(world, issue.id, 'assigned')).toEqual([{ by: 'rule', assigneeId: ann.id, rule: 2 }])
  expect(await here.mailsTo('ann')).toEqual([expect.stringContaining('Assigned to you')])
  expect(await here.mailsTo('team')).toHaveLength(1)
  expect(hook.requests).toHaveLength(1)
  expect(JSON.parse(hook.requests[0]?.body ?? '').data.issue.assignee).toEqual({ id: ann.id, name: 'Ann' })

  await here.alert('refund', [{ type: 'email', target: 'ben@example.com' }])
  expect((await here.violate('refund', '/other')).assigneeId).toBe(ben.id)
  expect(await here.mailsTo('ben')).toEqual([expect.stringContaining('New issue')])

  await world.call('DELETE', `/v1/org/members/${ann.id}`)
  await world.call('DELETE', `/v1/domains/${domain.id}`)
  const left = (await world.call('GET', '/v1/org/ownership')).body.rules
  expect(left.map(({ assigneeId }: { assigneeId: string | null }) => assigneeId)).toEqual([null, ben.id])
})

test('rules are rejected if they name anything that does not exist in the organization', async () => {
  await using here = await office()
  const { ann, ben, vera, domain, world } = here
  const fine = { match: { domainId: domain.id }, assigneeId: ann.id }
  expect((await here.setRules([fine])).status).toBe(200)
  const { body: elsewhere } = await world.call('POST', '/v1/orgs', { body: { name: 'Elsewhere' } })
  const stranger = here.person('Mallory', 'member', elsewhere.id)
  const cases: [object, string][] = [
    [{ match: { domainId: 'dom_none' } }, 'rules[1].match.domainId: '],
    [{ match: { projectId: 'prj_none' } }, 'rules[1].match.projectId: '],
    [{ match: { labelId: 'lbl_none' } }, 'rules[1].match.labelId: '],
    [{ match: { vendor: 'ga4' } }, 'rules[1].match.vendor: '],
    [{ match: { pathPrefix: 'checkout' } }, 'rules[1].match.pathPrefix: '],
    [{ match: { path: '/' } }, 'rules[1].match.path: '],
    [{ match: {}, assigneeId: stranger.id }, 'rules[1].assigneeId: '],
    [{ match: {}, channels: [{ type: 'webhook', target: 'http://10.0.0.1/' }] }, 'rules[1].channels[0].target: '],
    [{ match: {}, channels: [{ type: 'email', target: ann.id }] }, 'rules[1].channels[0].target: '],
    [{}, 'rules[1].match: '],
  ]
  for (const [rule, error] of cases) {
    const refused = await here.setRules([fine, rule])
    expect({ rule, ...refused }).toMatchObject({ rule, status: 400, body: { error: expect.stringContaining(error) } })
  }
  expect((await here.setRules(new Array(201).fill(fine))).status).toBe(400)
  expect((await here.setRules(new Array(200).fill(fine))).status).toBe(200)
  for (const { key } of [ben, vera]) expect((await here.setRules([], key)).status).toBe(403)
  const theirs = await world.call('GET', '/v1/org/ownership', { as: stranger.key })
  expect(theirs.body).toEqual({ rules: [] })
})
