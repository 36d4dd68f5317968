import type { CDPSession, Frame, Page } from 'puppeteer-core'

/** Undeclared members of puppeteer. Its version is exact, and the tests of this room check them. */
interface Internals {
  client: CDPSession
  isolatedRealm(): Pick<Frame, 'evaluate' | 'evaluateHandle'>
}

const internalsOf = (frame: Frame): Internals => frame as unknown as Internals

/** Returns puppeteer's own session with the frame's target. */
export function sessionOf(frame: Frame): CDPSession {
  return internalsOf(frame).client
}

/** Returns the frame's isolated world, in which the page's scripts can neither see nor change anything. */
export function apart(frame: Frame): Pick<Frame, 'evaluate' | 'evaluateHandle'> {
  return internalsOf(frame).isolatedRealm()
}

/** Returns the id of a tab as in `SeenRequest.tab`: that of its DevTools target. */
export async function tabOf(page: Page): Promise<string> {
  const session = await page.createCDPSession()
  try {
    return (await session.send('Target.getTargetInfo')).targetInfo.targetId
  } finally {
    await session.detach()
  }
}
