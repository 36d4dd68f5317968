import type { Page } from 'puppeteer-core'

/** Returns the id of a tab, which `SeenRequest.tab` names: that of its target in the protocol of DevTools. */
export async function tabOf(page: Page): Promise<string> {
  const session = await page.createCDPSession()
  try {
    return (await session.send('Target.getTargetInfo')).targetInfo.targetId
  } finally {
    await session.detach()
  }
}
