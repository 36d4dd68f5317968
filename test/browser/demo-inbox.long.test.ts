import { expect, test } from 'bun:test'
import { startDemo } from '../web/demo.ts'
import { openScreen, type Screen } from '../web/screen.ts'

/** Expects the deliveries page to show the demo inbox with a past message. */
async function expectInbox(screen: Screen): Promise<void> {
  await screen.open('/deliveries')
  await screen.sees('region', 'Inbox')
  await screen.reads('E-mail address in a form field')
}

test('the demo inbox is shown after each kind of sign-in', async () => {
  await using demo = await startDemo()
  const [, email = '', password = ''] = /sign in +(\S+) +(\S+)/.exec(demo.printed()) ?? []
  await using byLink = await openScreen(demo.url)
  await byLink.open(demo.link)
  await byLink.sees('heading', 'Overview')
  await expectInbox(byLink)

  await using byPassword = await openScreen(demo.url)
  await byPassword.open('/')
  await byPassword.sees('button', 'Sign in')
  expect(await byPassword.has('region', 'Inbox')).toBe(false)
  await byPassword.type('E-mail address', email)
  await byPassword.type('Password', password)
  await byPassword.press('Sign in')
  await byPassword.sees('heading', 'Overview')
  await expectInbox(byPassword)
})
