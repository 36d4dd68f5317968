import type { InfiniteData } from '@tanstack/react-query'
import { setSignal } from '#client/sdk.gen'
import type { Signal, SignalList } from '#client/types.gen'
import { mutate } from '../../api/mutate.ts'
import { messages } from '../../messages.ts'

/** Range of the sensitivity. */
export const LOWEST = 2
export const HIGHEST = 8

type Part = Partial<Pick<Signal, 'mode' | 'sensitivity'>>

/** Changes the mode or sensitivity of a signal: optimistically, with undo. */
export async function changeSignal(signal: Signal, part: Part): Promise<void> {
  const { domainId, vendor, event, mode, sensitivity } = signal
  const isSame = (one: Signal) => one.domainId === domainId && one.vendor === vendor && one.event === event
  const next = { ...signal, ...part }
  const change = (one: Signal) => (isSame(one) ? { ...one, ...part } : one)
  await mutate({
    send: () =>
      setSignal({
        body: { domainId, vendor, event, mode: next.mode, sensitivity: next.sensitivity },
        throwOnError: true,
      }),
    optimistic: [
      {
        queryKey: [{ _id: 'listSignals' }],
        update: (answer: SignalList | InfiniteData<SignalList>) =>
          'pages' in answer
            ? { ...answer, pages: answer.pages.map((page) => ({ ...page, signals: page.signals.map(change) })) }
            : { ...answer, signals: answer.signals.map(change) },
      },
    ],
    message: messages.signals.changed(vendor, event),
    undo: () => void changeSignal(next, { mode, sensitivity }),
  })
}
