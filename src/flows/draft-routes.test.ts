import { expect, test } from 'bun:test'
import { testApp } from '../../test/test-app.ts'
import { SECOND_MS } from '../core/clock.ts'
import { createKey } from '../org/api-key-store.ts'
import { addMember, createUser } from '../org/store.ts'

const GA4 = 'Google Analytics 4'
const collect = (event: string, more = '') =>
  `https://www.google-analytics.com/g/collect?v=2&tid=G-1&cid=1.2&en=${event}${more}`

test('a stored session is converted to a draft, and the draft to a flow test', async () => {
  await using world = await testApp()
  const { body: domain } = await world.call('POST', '/v1/domains', { body: { name: 'Shop' } })
  const visit = async (sessionId: string, url: string, ...events: string[]) => {
    world.clock.advance(10 * SECOND_MS)
    const hits = events.map((hit) => ({ url: hit }))
    expect((await world.collect(domain.token, { sessionId, page: { url }, hits })).status).toBe(202)
  }
  await visit('s-1', 'https://shop.example/', collect('page_view'))
  await visit('s-2', 'https://shop.example/other', collect('page_view'))
  await visit('s-1', 'https://shop.example/u/ann@mail.example', collect('page_view'))
  await world.run('flush')
  await visit(
    's-1',
    'https://shop.example/cart?utm_source=mail',
    collect('view_cart', '&cu=EUR&ep.mail=ann@mail.example'),
  )
  const draft = (body: object, as?: string) => world.call('POST', '/v1/flows/drafts', { body, ...(as && { as }) })

  const { status, body } = await draft({ sessionId: 's-1' })
  expect(status).toBe(200)
  const { recording, expectations } = body
  expect(recording.steps.map(({ type, url }: { type: string; url: string }) => [type, url])).toEqual([
    ['navigate', 'https://shop.example/'],
    ['navigate', 'https://shop.example/cart'],
  ])
  expect(expectations).toMatchObject([
    { step: 0, vendor: GA4, event: 'page_view', account: 'G-1' },
    { step: 1, vendor: GA4, event: 'view_cart', account: 'G-1' },
  ])
  expect(JSON.stringify(body)).not.toContain('ann')
  const made = await world.call('POST', '/v1/flows/tests', { body: { name: 'Visit', recording, expectations } })
  expect(made).toMatchObject({ status: 201, body: { recording, expectations } })

  const { db } = world.app
  const { id: userId } = createUser(db, world.clock, { email: 'v@example.com', name: 'V', passwordHash: null as never })
  addMember(db, world.clock, { orgId: world.owner.orgId, userId, role: 'viewer' })
  const { secret } = createKey(db, world.clock, { userId, orgId: world.owner.orgId, name: 'k', expiresInDays: null })
  expect((await draft({ sessionId: 's-1' }, secret)).status).toBe(403)

  expect(await draft({ sessionId: 's-3' })).toMatchObject({ status: 404 })
  for (const wrong of [{}, { sessionId: 's-1', har: {} }]) {
    expect(await draft(wrong)).toMatchObject({
      status: 400,
      body: { error: expect.stringMatching(/^sessionId: exactly one/) },
    })
  }
  const { body: other } = await world.call('POST', '/v1/orgs', { body: { name: 'Other' } })
  const foreign = { body: { sessionId: 's-1' }, headers: { 'x-org-id': other.id } }
  expect(await world.call('POST', '/v1/flows/drafts', foreign)).toMatchObject({ status: 404 })
})
