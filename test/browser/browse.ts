import type { Browsing, BrowsingOptions } from '../../src/browser/browsing.ts'
import { type BrowsingDeps, openBrowsing } from '../../src/browser/open-browsing.ts'
import { PLAIN_PRIVACY } from '../../src/conditions/privacy-settings.ts'
import { temporaryFolder } from '../run-program.ts'
import { installedChromium } from './installed-chromium.ts'

/** Options for a test browser that emulates a desktop, can reach 127.0.0.1, and answers vendor requests itself. */
export async function browsingOptions(
  folder: string,
  options: Partial<BrowsingOptions> = {},
): Promise<BrowsingOptions> {
  return {
    chromium: await installedChromium(),
    folder,
    device: 'desktop',
    vendorRequests: 'answer',
    secrets: [],
    privacy: PLAIN_PRIVACY,
    outboundAllow: ['127.0.0.1'],
    outboundProxy: '',
    outboundCa: '',
    userAgentSuffix: '',
    ...options,
  }
}

/**
 * Opens a browser in this process, as flow tests and audits do. Disposing it deletes its files. Hosts that end with
 * `.test` resolve to this machine.
 */
export async function browse(options: Partial<BrowsingOptions> = {}, parts: BrowsingDeps = {}): Promise<Browsing> {
  const folder = temporaryFolder()
  try {
    const resolve = async (host: string) => {
      if (host.endsWith('.test')) return ['127.0.0.1']
      throw new Error(`unknown host ${host}`)
    }
    const resolved = await browsingOptions(folder.path, options)
    const browsing = await openBrowsing(resolved, new AbortController().signal, { resolve, ...parts })
    return {
      ...browsing,
      async [Symbol.asyncDispose]() {
        await browsing[Symbol.asyncDispose]()
        folder[Symbol.dispose]()
      },
    }
  } catch (error) {
    folder[Symbol.dispose]()
    throw error
  }
}
