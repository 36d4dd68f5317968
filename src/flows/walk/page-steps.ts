import { until, within } from '../../browser/time-limit.ts'
import { isWebAddress } from '../recorder-export.ts'
import type { StepContext, StepKind } from './step.ts'
import { isEmptyError, isGone, navigationSentence, StepFault } from './step-fault.ts'

/** Time after which a page that has responded but is still loading is treated as loaded. */
const LOAD_MS = 10_000

export const navigate: StepKind<'navigate'> = {
  causesTags: true,
  async do({ url }, doing) {
    if (!isWebAddress(url)) throw new StepFault(`“${url}” is not a URL that begins with http:// or https://`)
    doing.requireSecretHost(url)
    const page = await doing.page()
    try {
      await within(page.goto(url, { waitUntil: 'domcontentloaded', timeout: 0 }), doing.limitMs, doing.stopping)
    } catch (error) {
      doing.stopping.throwIfAborted()
      // The runner reports the status of the response.
      if (isEmptyError(error)) return
      throw new StepFault(refusalOf(doing, url) ?? navigationSentence(error, url))
    }
    await loaded(doing)
  },
}

/** Waits until the document and its resources are loaded. */
export async function loaded(doing: StepContext): Promise<void> {
  const isComplete = async () => {
    try {
      return (
        (await doing
          .frameNow()
          ?.page()
          .evaluate(() => document.readyState === 'complete')) || null
      )
    } catch (error) {
      if (isGone(error)) return null
      throw error
    }
  }
  await until(isComplete, Math.min(LOAD_MS, doing.limitMs), doing.stopping)
}

/** Returns why a document could not be loaded, as reported by the request guard or the network; null when unknown. */
export function refusalOf({ browsing }: StepContext, url: string): string | null {
  const last = browsing.traffic.requests.findLast(
    ({ resourceType, error }) => resourceType === 'document' && error !== null,
  )
  return last?.error && (last.url === url || browsing.traffic.requests.at(-1) === last) ? last.error : null
}

export const close: StepKind<'close'> = {
  causesTags: true,
  async do(_step, doing) {
    await (await doing.page()).close()
  },
}

/** Has no effect, because the device settings of the test take precedence over the recording. */
export const setViewport: StepKind<'setViewport'> = { causesTags: false, do: async () => {} }

export const emulateNetworkConditions: StepKind<'emulateNetworkConditions'> = {
  causesTags: false,
  async do({ download, upload, latency }, doing) {
    await (await doing.page()).emulateNetworkConditions({ download, upload, latency })
  },
}
