import { afterAll, beforeAll, expect, test } from 'bun:test'
import { call } from '../../run-program.ts'
import { OWNER, type Person, startEnvironment, type TestEnvironment } from './test-environment.ts'

let env: TestEnvironment
beforeAll(async () => {
  env = await startEnvironment()
})
afterAll(() => env[Symbol.asyncDispose]())

/** Signs in as the owner, using the form. */
async function signIn({ sees, type, keys }: Person): Promise<void> {
  await sees('heading', 'Sign in')
  await type('E-mail address', OWNER.email)
  await type('Password', OWNER.password)
  await keys('Enter')
}

/** Returns the value of the field with this name. */
const textOf = async ({ page }: Person, name: string) =>
  page.$eval(`aria/[name=${JSON.stringify(name)}][role="textbox"]`, (field) => (field as HTMLInputElement).value)

test('an API key is created, used and revoked', async () => {
  await using person = await env.person('/settings/keys', null)
  const { sees, reads, press, type, choose, keys } = person
  await signIn(person)
  await press('New API key')
  await sees('dialog', 'New API key')
  await type('Name', 'pipeline')
  await choose('Expires', 'in 7 days')
  await press('Read only', 'checkbox')
  await press('Make the key')
  await sees('textbox', 'Secret key')
  const key = await textOf(person, 'Secret key')
  const statusOf = async (method: string, path: string, body?: object) =>
    (await call(method, env.url + path, { as: key, body })).status
  expect(await statusOf('GET', '/v1/issues')).toBe(200)
  expect(await statusOf('POST', '/v1/domains', { name: 'no' })).toBe(403)
  const { keys: made } = await env.call('GET', '/v1/keys')
  expect(made).toContainEqual(expect.objectContaining({ name: 'pipeline', readOnly: true }))

  await press('I have stored it')
  // The focus returns to the element that was focused before the dialog opened.
  await person.page.waitForFunction(() => document.activeElement?.textContent === 'New API key')
  await press('Revoke pipeline')
  await sees('dialog', 'Revoke API key')
  await press('Revoke key')
  await reads('pipeline revoked.')
  expect(await statusOf('GET', '/v1/issues')).toBe(401)
  // Escape closes the dialog.
  await press('New API key')
  await sees('dialog', 'New API key')
  await keys('Escape')
  await person.page.waitForFunction(() => !document.querySelector('[role=dialog]'))
  expect(person.errors).toEqual([])
})

test('an invited member accepts the invitation and signs in', async () => {
  await using owner = await env.person('/', null)
  await signIn(owner)
  await owner.sees('heading', 'Overview')
  await owner.keys('Control+k')
  await owner.sees('dialog', 'Command palette')
  await owner.page.waitForFunction(() => document.activeElement?.getAttribute('role') === 'combobox')
  await owner.page.keyboard.type('members')
  await owner.keys('Enter')
  await owner.sees('heading', 'Members')
  await owner.press('Invite a member')
  await owner.type('E-mail address', 'ben@example.com')
  await owner.choose('Role', 'Viewer')
  await owner.press('Send invitation')
  await owner.sees('textbox', 'Invitation link')
  const { pathname, hash } = new URL(await textOf(owner, 'Invitation link'))

  await using guest = await env.person(pathname + hash, null)
  await guest.sees('heading', 'Accept the invitation')
  await guest.type('Your name', 'Ben')
  await guest.type('Password', 'battery staple horse')
  await guest.keys('Enter')
  await guest.sees('heading', 'Overview')
  await guest.press('Account')
  await guest.reads('Ben')
  while (!(await guest.page.evaluate(() => document.activeElement?.textContent === 'Sign out'))) {
    await guest.keys('ArrowDown')
  }
  await guest.keys('Enter')
  await guest.sees('heading', 'Sign in')
  await guest.type('E-mail address', 'ben@example.com')
  await guest.type('Password', 'battery staple horse')
  await guest.keys('Enter')
  await guest.sees('heading', 'Overview')
  const { members } = await env.call('GET', '/v1/org/members')
  expect(members).toContainEqual(expect.objectContaining({ name: 'Ben', role: 'viewer', status: 'active' }))
  expect([...owner.errors, ...guest.errors]).toEqual([])
})
