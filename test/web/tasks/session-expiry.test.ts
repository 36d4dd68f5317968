import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { ask } from '../../run-program.ts'
import type { Screen } from '../screen.ts'
import type { Keyboard } from './keyboard.ts'
import { OWNER, type Shop, startEnvironment, type TestEnvironment } from './test-environment.ts'

let env: TestEnvironment
let shop: Shop
beforeAll(async () => {
  env = await startEnvironment({ env: { TAGWARDEN_CHROMIUM: '/bin/true' } })
  shop = await env.createShop()
})
afterAll(() => env[Symbol.asyncDispose]())

/** Signs in using the dialog that covers the page. */
async function signInAgain({ sees, type, keys, page }: Screen & Keyboard): Promise<void> {
  await sees('dialog', 'Sign in')
  await type('E-mail address', OWNER.email)
  await type('Password', OWNER.password)
  await keys('Enter')
  await page.waitForFunction(() => !document.querySelector('[role=dialog]'))
}

describe('unsaved input after a session has ended', () => {
  test('is preserved in the form of an alert', async () => {
    const session = await env.session()
    await using person = await env.person('/alerts/new', session)
    const { type, choose, keys, sees, reads, press } = person
    await type('Name', 'No order id')
    await type('Event', 'purchase')
    await type('Parameter 1', 'order_id')
    await choose('Operator 1', 'equals')
    await type('Values 1', 'a')
    await keys('Enter')
    await person.page.keyboard.type('b')
    await keys('Enter')
    await choose('Severity', 'Critical')
    await type('Target 1', 'ann@example.com')
    await ask('POST', `${env.url}/v1/auth/logout`, session)
    await keys('Control+Enter')
    await signInAgain(person)
    await press('Save and enable')
    await sees('heading', 'Alerts')
    await reads('“No order id” was saved and enabled.')
    const { alerts } = await env.call('GET', '/v1/alerts?q=No%20order%20id')
    expect(alerts).toMatchObject([
      {
        name: 'No order id',
        severity: 'critical',
        enabled: true,
        filters: [{ parameter: '$event', op: 'equals', values: ['purchase'] }],
        conditions: { items: [{ parameter: 'order_id', op: 'equals', values: ['a', 'b'] }] },
        channels: [{ type: 'email', target: 'ann@example.com' }],
      },
    ])
  })

  test('is preserved in the form of a test', async () => {
    const session = await env.session()
    await using person = await env.person('/tests/new', session)
    const { type, choose, keys, sees, press } = person
    await sees('heading', 'New test')
    await type('Name', 'Buy')
    await choose('Domain', 'shop.example')
    await press('Add step')
    await type('URL 1', 'https://shop.example/')
    await choose('Device', 'Phone')
    await press('Run after each change to the domain', 'switch')
    await ask('POST', `${env.url}/v1/auth/logout`, session)
    await keys('Control+Enter')
    await signInAgain(person)
    await keys('Control+Enter')
    await sees('heading', 'Buy')
    const { tests } = await env.call('GET', '/v1/flows/tests')
    const made = await env.call('GET', `/v1/flows/tests/${tests[0].id}`)
    expect(made).toMatchObject({
      name: 'Buy',
      domainId: shop.id,
      device: 'mobile',
      runOnChange: true,
      recording: { steps: [{ type: 'navigate' }] },
    })
  })

  test('is preserved in the form of an integration', async () => {
    const session = await env.session()
    await using person = await env.person('/integrations/new', session)
    const { type, choose, keys, sees, press, reads } = person
    await sees('heading', 'Connect')
    await choose('Provider', 'Webhook')
    await type('Name', 'Our hooks')
    await type('URL', 'https://hooks.example.com/a')
    await ask('POST', `${env.url}/v1/auth/logout`, session)
    await keys('Control+Enter')
    await signInAgain(person)
    await keys('Control+Enter')
    await reads('I have stored it')
    const { integrations } = await env.call('GET', '/v1/integrations')
    expect(integrations).toMatchObject([{ label: 'Our hooks', provider: 'webhook' }])
    await press('I have stored it')
    await sees('heading', 'Our hooks')
  })

  test('is preserved when signing in again in another tab', async () => {
    const session = await env.session()
    await using person = await env.person('/alerts/new', session)
    await person.type('Name', 'Half written')
    await using other = await person.openTab('/settings/organization')
    await other.sees('heading', 'Organization')
    await ask('POST', `${env.url}/v1/auth/logout`, session)
    // The server closes the stream when the session ends, so the tab detects the end of the session without sending a
    // request.
    await other.sees('dialog', 'Sign in')
    await person.page.bringToFront()
    await person.sees('dialog', 'Sign in')
    await signInAgain(other)
    await person.page.bringToFront()
    await person.page.waitForFunction(() => !document.querySelector('[role=dialog]'))
    expect(await person.page.$eval('main input[maxlength]', (field) => (field as HTMLInputElement).value)).toBe(
      'Half written',
    )
  })
})
