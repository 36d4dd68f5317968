import type { CDPSession, Frame } from 'puppeteer-core'

/** What puppeteer has and does not declare. Its version is exact, and the tests of this room hold it. */
interface Internals {
  client: CDPSession
  isolatedRealm(): Pick<Frame, 'evaluate' | 'evaluateHandle'>
}

const internalsOf = (frame: Frame): Internals => frame as unknown as Internals

/** Puppeteer's own session with the frame's target. */
export function sessionOf(frame: Frame): CDPSession {
  return internalsOf(frame).client
}

/** Evaluates in a world of puppeteer's own, where a page's scripts can neither see nor change what is done. */
export function apart(frame: Frame): Pick<Frame, 'evaluate' | 'evaluateHandle'> {
  return internalsOf(frame).isolatedRealm()
}
