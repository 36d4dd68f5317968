import { until, within } from '../../browser/waiting.ts'
import { isWebAddress } from '../recording.ts'
import { isEmptyError, isGone, navigationSentence, StepFault } from './fault.ts'
import type { Doing, StepKind } from './step.ts'

/** A page that answered and is still loading after so long is gone on with. */
const LOAD_MS = 10_000

export const navigate: StepKind<'navigate'> = {
  causesTags: true,
  async do({ url }, doing) {
    if (!isWebAddress(url)) throw new StepFault(`“${url}” is no address that begins with http:// or https://`)
    doing.requireSecretHost(url)
    const page = await doing.page()
    try {
      await within(page.goto(url, { waitUntil: 'domcontentloaded', timeout: 0 }), doing.limitMs, doing.stopping)
    } catch (error) {
      doing.stopping.throwIfAborted()
      // The walk says what was answered.
      if (isEmptyError(error)) return
      throw new StepFault(refusalOf(doing, url) ?? navigationSentence(error, url))
    }
    await loaded(doing)
  },
}

/** Waits until the document and what it asked for are there. */
export async function loaded(doing: Doing): Promise<void> {
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

/** Why a document could not be loaded, as the guard or the network said; null: nothing is known. */
export function refusalOf({ browsing }: Doing, url: string): string | null {
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

/** The device of the test wins over that of the recording. */
export const setViewport: StepKind<'setViewport'> = { causesTags: false, do: async () => {} }

export const emulateNetworkConditions: StepKind<'emulateNetworkConditions'> = {
  causesTags: false,
  async do({ download, upload, latency }, doing) {
    await (await doing.page()).emulateNetworkConditions({ download, upload, latency })
  },
}
