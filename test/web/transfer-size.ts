import type { Page } from 'puppeteer-core'

/** Sizes of the response bodies that a page receives, in bytes as transferred. */
export interface TransferSize {
  /** Number of script files. */
  files: number
  scriptBytes: number
  /** Size of everything except scripts and responses to requests under `/v1`. */
  otherBytes: number
}

const NOTHING: TransferSize = { files: 0, scriptBytes: 0, otherBytes: 0 }

/**
 * Measures all responses that the page receives from now on, compressed with gzip. `take` returns the total since the
 * previous call.
 */
export async function measureTransfers(page: Page): Promise<{ take(): TransferSize }> {
  let sent = { ...NOTHING }
  const cdp = await page.createCDPSession()
  await cdp.send('Network.enable')
  const answers = new Map<string, { kind: string; headerBytes: number }>()
  cdp.on('Network.responseReceived', ({ requestId, type, response }) => {
    const kind = new URL(response.url).pathname.startsWith('/v1/') ? 'data' : type
    // Cached responses are not transferred.
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
