import { useDebouncedValue } from '@mantine/hooks'
import { keepPreviousData, type UseQueryResult, useQuery } from '@tanstack/react-query'
import { backtestAlert, previewAlert } from '#client/sdk.gen'
import type { AlertBacktest, AlertInput, AlertPreview } from '#client/types.gen'
import { MAX_HOURS } from '../../../../contract/limits.ts'
import { STALE_MS } from '../../../api/queries.ts'
import { toPreviewInput } from './convert-alert-draft.ts'
import type { Draft } from './draft.ts'
import { SENSITIVITIES } from './sensitivity.tsx'

export const BACKTEST_DAYS = [7, 14, 30] as const
export type Days = (typeof BACKTEST_DAYS)[number]

const DAY_HOURS = 24
/** Number of days in which matching events are counted: those of the backtest, up to the maximum of the API. */
export const previewDays = (days: Days): number => Math.min(days, MAX_HOURS.preview / DAY_HOURS)

const PREVIEW_PAUSE_MS = 400
const BACKTEST_PAUSE_MS = 800

/** A result for past events, possibly for an older version of the rule. */
export interface BacktestResult<T> {
  data: T | undefined
  error: unknown
  isOld: boolean
  isAsking: boolean
  retry(): void
}

/** Tests the rule on past events shortly after each change. Requests for older versions are aborted. */
export function useBacktest(
  draft: Draft,
  days: Days,
  { hasSensitivity, isWhole }: { hasSensitivity: boolean; isWhole: boolean },
): { preview: BacktestResult<AlertPreview>; backtest: BacktestResult<AlertBacktest> } {
  // Compared as strings, so that changing only the name sends no request.
  const rule = JSON.stringify({ ...toPreviewInput(draft), name: 'Rule', severity: undefined, impactValue: undefined })
  const [previewed] = useDebouncedValue(rule, PREVIEW_PAUSE_MS)
  const [tested] = useDebouncedValue(rule, BACKTEST_PAUSE_MS)
  const shared = { staleTime: STALE_MS.insight, placeholderData: keepPreviousData }
  const previewInput = { rule: JSON.parse(previewed) as AlertInput, hours: previewDays(days) * DAY_HOURS }
  const preview = useQuery({
    ...shared,
    // Not sent while the rule is still being edited.
    enabled: isWhole && previewed === rule,
    queryKey: [{ _id: 'previewAlert', body: previewInput }],
    queryFn: async ({ signal }) => (await previewAlert({ body: previewInput, signal })).data,
  })
  const backtestInput = {
    rule: JSON.parse(tested) as AlertInput,
    days,
    series: hasSensitivity,
    sensitivities: hasSensitivity ? [...SENSITIVITIES] : undefined,
  }
  const backtest = useQuery({
    ...shared,
    enabled: isWhole && tested === rule,
    queryKey: [{ _id: 'backtestAlert', body: backtestInput }],
    queryFn: async ({ signal }) => (await backtestAlert({ body: backtestInput, signal })).data,
  })
  return { preview: resultOf(preview, previewed !== rule), backtest: resultOf(backtest, tested !== rule) }
}

const resultOf = <T>(query: UseQueryResult<T>, isWaiting: boolean): BacktestResult<T> => ({
  data: query.data,
  error: query.error,
  isOld: query.isPlaceholderData || isWaiting,
  isAsking: query.isFetching || isWaiting,
  retry: () => void query.refetch(),
})
