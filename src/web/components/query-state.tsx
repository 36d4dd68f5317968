import { Alert, Anchor, Button, Group, Skeleton, Stack, Text } from '@mantine/core'
import { type ReactNode, useEffect, useState } from 'react'
import { ApiError, errorMessage, isTransient } from '../api/api-error.ts'
import { refetchNow } from '../api/queries.ts'
import { messages } from '../messages.ts'
import { Data } from './data-text.tsx'
import { PageHeader } from './page-header.tsx'
import classes from './query-state.module.css'

/** The part of a TanStack query that `QueryState` uses. */
interface AnyQuery<T> {
  data: T | undefined
  /** An `ApiError`, although the generated types declare the error body. */
  error: unknown
  failureReason: unknown
  isFetching: boolean
  isPlaceholderData: boolean
  refetch(): Promise<unknown>
}

interface QueryStateProps<T> {
  query: AnyQuery<T>
  /** Placeholder while loading. */
  skeleton?: ReactNode
  /** Shown if `isEmpty` returns true. */
  empty?: ReactNode
  isEmpty?: (answer: T) => boolean
  /** Shown for 404 responses. */
  notFound?: ReactNode
  /** Heading of a detail page while its name is unknown. */
  title?: string
  children: (answer: T) => ReactNode
}

/** Delay before the skeleton is shown. */
const PATIENCE_MS = 150

/** Renders every state of a query: loading, error, not found, empty, loaded and refetching. */
export function QueryState<T>({
  query,
  skeleton,
  empty,
  isEmpty,
  notFound: gone,
  title: room,
  children,
}: QueryStateProps<T>) {
  const { data, error, isFetching, isPlaceholderData, failureReason, refetch } = query
  const [pressed, press] = useState<unknown>(null)
  const refusal = error ?? (data === undefined ? failureReason : null)
  const retry = () => {
    press(refusal)
    refetchNow(refusal, refetch)
  }
  if (data === undefined && refusal) {
    if (gone !== undefined && refusal instanceof ApiError && refusal.status === 404) return gone
    // The Retry button is enabled between automatic retries.
    return (
      <>
        {room && <PageHeader title={room} />}
        <ErrorNotice refusal={refusal} retry={retry} isAsking={isFetching && (error !== null || pressed === refusal)} />
      </>
    )
  }
  if (data === undefined) {
    return (
      <>
        {room && <PageHeader title={room} />}
        <Loading>{skeleton}</Loading>
      </>
    )
  }
  return (
    <div
      className={`column ${classes.there}`}
      data-asking={isFetching || undefined}
      data-old={isPlaceholderData || undefined}
    >
      {error !== null && <ErrorNotice refusal={error} retry={retry} isAsking={isFetching} />}
      {isEmpty?.(data) ? empty : children(data)}
    </div>
  )
}

function Loading({ children }: { children?: ReactNode }) {
  const [isShown, show] = useState(false)
  useEffect(() => {
    const timer = setTimeout(() => show(true), PATIENCE_MS)
    return () => clearTimeout(timer)
  }, [])
  return (
    <div aria-busy="true" data-hidden={!isShown || undefined} className={classes.loading}>
      {children ?? <SkeletonLines />}
    </div>
  )
}

/** Default skeleton. */
export function SkeletonLines({ count = 4 }: { count?: number }) {
  return (
    <Stack gap="sm">
      {Array.from({ length: count }, (_, index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: the lines are identical
        <Skeleton key={index} height={20} width={`${90 - ((index * 17) % 40)}%`} />
      ))}
    </Stack>
  )
}

/** Skeleton of a list. */
export function SkeletonRows({ count = 8 }: { count?: number }) {
  return (
    <div className={classes.rows}>
      {Array.from({ length: count }, (_, index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: the rows are identical
        <div key={index} className={classes.row}>
          <Skeleton height={12} width={`${60 - ((index * 17) % 30)}%`} />
          <Skeleton height={8} width={`${30 - ((index * 7) % 12)}%`} />
        </div>
      ))}
    </div>
  )
}

/** Error message with a Retry button. */
export function ErrorNotice({ refusal, retry, isAsking }: { refusal: unknown; retry(): void; isAsking?: boolean }) {
  const after = refusal instanceof ApiError && isTransient(refusal) ? refusal.retryAfterS : null
  return (
    <Alert role="alert" color="gray" variant="default" className={classes.refused}>
      <Stack gap="sm">
        <Text fz="md">
          <Data>{errorMessage(refusal)}</Data>
        </Text>
        {after !== null && <Countdown key={after} seconds={after} />}
        <Group>
          <Button variant="default" onClick={retry} loading={isAsking}>
            {messages.shell.retry}
          </Button>
        </Group>
      </Stack>
    </Alert>
  )
}

function Countdown({ seconds }: { seconds: number }) {
  const [left, tick] = useState(seconds)
  useEffect(() => {
    const timer = setInterval(() => tick((before) => Math.max(0, before - 1)), 1000)
    return () => clearInterval(timer)
  }, [])
  return (
    <Text c="dimmed" fz="sm" aria-hidden>
      {messages.shell.retryIn(left)}
    </Text>
  )
}

interface MissingProps {
  sentence: string
  /** True if the sentence is the heading of the page. It is then repeated only for screen readers. */
  isHeading?: boolean
  children: ReactNode
}

/** Message for a missing resource, with a link to the list. */
export function MissingNotice({ sentence, isHeading = false, children }: MissingProps) {
  return (
    <Stack gap="sm" role="alert">
      <Text fz="md" className={isHeading ? 'heard' : undefined}>
        {sentence}
      </Text>
      <Anchor component="span">{children}</Anchor>
    </Stack>
  )
}
