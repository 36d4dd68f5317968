import { expect, test } from 'bun:test'
import { PROGRAM, until } from '../process.ts'
import { startBrowser } from './chromium.ts'

const TEST_MS = 60_000

/** The demo, on a port that is free, and what it prints of the ways in. */
async function startDemo() {
  const child = Bun.spawn([...PROGRAM, 'demo', '--listen', '127.0.0.1:0'], { stdout: 'pipe', stderr: 'inherit' })
  let printed = ''
  const keep = (part: string) => {
    printed += part
  }
  void child.stdout.pipeThrough(new TextDecoderStream()).pipeTo(new WritableStream({ write: keep }))
  const ways = await until('the ways in', () =>
    /look at +(?<link>(?<url>\S+?)\/#\S+)\s+sign in +(?<email>\S+) +(?<password>\S+)/.exec(printed),
  )
  const stop = async () => {
    child.kill('SIGTERM')
    await child.exited
  }
  const { url = '', link = '', email = '', password = '' } = ways.groups ?? {}
  return { url, link, email, password, [Symbol.asyncDispose]: stop }
}

test(
  'the inbox of the demo shows whichever way somebody comes in',
  async () => {
    await using demo = await startDemo()
    await using chromium = await startBrowser()
    const byLink = await chromium.browser.newPage()
    await byLink.goto(demo.link)
    await byLink.waitForSelector('#inbox', { visible: true })

    const byPassword = await chromium.browser.newPage()
    await byPassword.goto(demo.url)
    await byPassword.waitForSelector('#sign-in button', { visible: true })
    expect(await byPassword.$eval('#inbox', (inbox) => inbox.checkVisibility())).toBe(false)
    await byPassword.type('#sign-in [name=email]', demo.email)
    await byPassword.type('#sign-in [name=password]', demo.password)
    await byPassword.click('#sign-in button')
    await byPassword.waitForSelector('#inbox', { visible: true })
    await byPassword.waitForSelector('#mails details')
  },
  TEST_MS,
)
