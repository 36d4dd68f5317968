import { listSignalsInfiniteOptions } from '#client/@tanstack/react-query.gen'
import { setSignal } from '#client/sdk.gen'
import type { Signal, SignalList } from '#client/types.gen'
import { SIGNAL_MODES } from '../../../contract/statuses.ts'
import { mutate } from '../../api/mutate.ts'
import { PAGE_SIZE, updatePages } from '../../api/pagination.ts'
import { messages } from '../../messages.ts'
import type { ValuesOf } from '../../url-state/param-types.ts'
import { optional, sortParam, text } from '../../url-state/param-types.ts'
import type { SharedParams } from '../../url-state/search-params.ts'

/** Most severe first. */
export const STATES = ['silent', 'low', 'high', 'learning', 'normal', 'off'] as const

/** Search parameters of the list of signals. */
export const SIGNALS = {
  state: optional(STATES),
  mode: optional(SIGNAL_MODES),
  domainId: text,
  vendor: text,
  sort: sortParam(['state', 'vendor', 'observed', 'expected', 'sensitivity', 'mode'], '-state'),
}

/** The query of the list of signals, with hourly counts of the last 7 days for sparklines. */
export function signalsQuery(values: ValuesOf<typeof SIGNALS & SharedParams>) {
  const { state, mode, domainId, vendor, project, sort } = values
  const query = {
    limit: PAGE_SIZE,
    series: true,
    sort,
    ...(state && { state }),
    ...(mode && { mode }),
    ...(domainId && { domainId }),
    ...(vendor && { vendor }),
    ...(project && { projectId: project }),
  }
  return listSignalsInfiniteOptions({ query })
}

type Part = Partial<Pick<Signal, 'mode' | 'sensitivity'>>

/** Changes the mode or sensitivity of a signal optimistically, with undo. */
export async function changeSignal(signal: Signal, part: Part): Promise<void> {
  const { domainId, vendor, event, mode, sensitivity } = signal
  const isSame = (one: Signal) => one.domainId === domainId && one.vendor === vendor && one.event === event
  const next = { ...signal, ...part }
  const change = (one: Signal) => (isSame(one) ? { ...one, ...part } : one)
  await mutate({
    send: () =>
      setSignal({
        body: { domainId, vendor, event, mode: next.mode, sensitivity: next.sensitivity },
      }),
    optimistic: [
      {
        queryKey: [{ _id: 'listSignals' }],
        update: updatePages<SignalList>((page) => ({ ...page, signals: page.signals.map(change) })),
      },
    ],
    message: messages.signals.changed(vendor, event),
    undo: () => void changeSignal(next, { mode, sensitivity }),
  })
}
