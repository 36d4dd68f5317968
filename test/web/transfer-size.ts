import type { Page } from 'puppeteer-core'

/** What a page was sent: bodies as they were on the wire. */
export interface TransferSize {
  /** How many files of script. */
  files: number
  scriptBytes: number
  /** All that is neither script nor an answer of `/v1`. */
  otherBytes: number
}

const NOTHING: TransferSize = { files: 0, scriptBytes: 0, otherBytes: 0 }

/** Counts what the page is sent from now on, with gzip. `take` returns what came since it was asked last. */
export async function measureTransfers(page: Page): Promise<{ take(): TransferSize }> {
  let sent = { ...NOTHING }
  const cdp = await page.createCDPSession()
  await cdp.send('Network.enable')
  const answers = new Map<string, { kind: string; headerBytes: number }>()
  cdp.on('Network.responseReceived', ({ requestId, type, response }) => {
    const kind = new URL(response.url).pathname.startsWith('/v1/') ? 'data' : type
    // What the browser still has is not sent.
    if (!response.fromDiskCache) answers.set(requestId, { kind, headerBytes: response.encodedDataLength })
  })
  cdp.on('Network.loadingFinished', ({ requestId, encodedDataLength }) => {
    const { kind = 'data', headerBytes = 0 } = answers.get(requestId) ?? {}
    const bytes = Math.max(0, encodedDataLength - headerBytes)
    if (kind === 'Script') {
      sent.files++
      sent.scriptBytes += bytes
    } else if (kind !== 'data') sent.otherBytes += bytes
  })
  await page.setExtraHTTPHeaders({ 'accept-encoding': 'gzip' })
  return {
    take() {
      const taken = sent
      sent = { ...NOTHING }
      return taken
    },
  }
}
