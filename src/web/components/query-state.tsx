import { Alert, Anchor, Button, Group, Skeleton, Stack, Text } from '@mantine/core'
import { type ReactNode, useEffect, useState } from 'react'
import { ApiError, errorMessage, isTransient } from '../api/api-error.ts'
import { refetchNow } from '../api/queries.ts'
import { messages } from '../messages.ts'
import { Data } from './data-text.tsx'
import { PageHeader } from './page-header.tsx'
import classes from './query-state.module.css'

/** What `QueryState` reads of a query; those of TanStack Query are such, infinite ones too. */
export interface AnyQuery<T> {
  data: T | undefined
  /** Typed as the body of an error; the client makes a `ApiError` of it. */
  error: unknown
  failureReason: unknown
  isFetching: boolean
  isPlaceholderData: boolean
  refetch(): Promise<unknown>
}

interface QueryStateProps<T> {
  query: AnyQuery<T>
  /** What stands in the place of the answer until it comes, in its shape. */
  skeleton?: ReactNode
  /** Shown instead of the answer when `isEmpty` holds for it. */
  empty?: ReactNode
  isEmpty?: (answer: T) => boolean
  /** Shown when the server says that there is no such thing; a sentence and a link to the list. */
  notFound?: ReactNode
  /** Heads the page of a thing until its answer is there: nobody knows its name yet. */
  title?: string
  children: (answer: T) => ReactNode
}

/** The skeleton appears only when the answer takes longer. */
const PATIENCE_MS = 150

/** Draws every state of a question to the server: loading, refused, gone, empty, there, and asked again. */
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
    // While it waits to ask again by itself nothing is asked until a press.
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

/** Grey lines, for what has no shape of its own. */
export function SkeletonLines({ count = 4 }: { count?: number }) {
  return (
    <Stack gap="sm">
      {Array.from({ length: count }, (_, index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: the lines are all alike
        <Skeleton key={index} height={20} width={`${90 - ((index * 17) % 40)}%`} />
      ))}
    </Stack>
  )
}

/** Rows of a list that is on its way, as high as those that come. */
export function SkeletonRows({ count = 8 }: { count?: number }) {
  return (
    <div className={classes.rows}>
      {Array.from({ length: count }, (_, index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: the rows are all alike
        <div key={index} className={classes.row}>
          <Skeleton height={12} width={`${60 - ((index * 17) % 30)}%`} />
          <Skeleton height={8} width={`${30 - ((index * 7) % 12)}%`} />
        </div>
      ))}
    </div>
  )
}

/** The server's sentence in the place of the answer, and a way to ask again. */
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

/** "There is no such issue", and the link to the list. */
export function MissingNotice({ sentence, children }: { sentence: string; children: ReactNode }) {
  return (
    <Stack gap="sm" role="alert">
      <Text fz="md">{sentence}</Text>
      <Anchor component="span">{children}</Anchor>
    </Stack>
  )
}
