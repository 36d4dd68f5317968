import type { CDPSession, Frame, Page } from 'puppeteer-core'

/** Undeclared members of puppeteer. Puppeteer's version is pinned, and the tests in this folder check these members. */
interface Internals {
  client: CDPSession
  isolatedRealm(): Pick<Frame, 'evaluate' | 'evaluateHandle'>
}

const internalsOf = (frame: Frame): Internals => frame as unknown as Internals

/** Returns puppeteer's own session for the frame's target. */
export function sessionOf(frame: Frame): CDPSession {
  return internalsOf(frame).client
}

/** Returns the frame's isolated world, which the page's scripts can neither read nor change. */
export function apart(frame: Frame): Pick<Frame, 'evaluate' | 'evaluateHandle'> {
  return internalsOf(frame).isolatedRealm()
}

/** Returns the id used in `SeenRequest.tab`, which is the DevTools target id of the tab. */
export async function tabOf(page: Page): Promise<string> {
  const session = await page.createCDPSession()
  try {
    return (await session.send('Target.getTargetInfo')).targetInfo.targetId
  } finally {
    await session.detach()
  }
}
