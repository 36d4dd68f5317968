import { Anchor, Button, Stack, Text } from '@mantine/core'
import { type ErrorComponentProps, Link, useRouter } from '@tanstack/react-router'
import { useCallback, useEffect, useRef, useState } from 'react'
import { ApiError, errorMessage } from '../api/api-error.ts'
import { useLive } from '../api/change-stream.ts'
import { Data } from '../components/data-text.tsx'
import { PageHeader } from '../components/page-header.tsx'
import { ErrorNotice } from '../components/query-state.tsx'
import { messages } from '../messages.ts'

/** Page for unknown URLs. */
export function NotFound() {
  return (
    <>
      <PageHeader title={messages.shell.notFound} />
      <Anchor component={Link} to="/">
        {messages.shell.toOverview}
      </Anchor>
    </>
  )
}

/** Shown when a page throws while rendering, or when its code can't be loaded. */
export function PageError({ error }: ErrorComponentProps) {
  if (error instanceof ApiError) return <Unreachable refusal={error} />
  return (
    <Stack p="lg" role="alert" maw="72ch">
      <Text fz="md">{messages.shell.failed}</Text>
      <Text c="dimmed" fz="sm">
        <Data>{errorMessage(error)}</Data>
      </Text>
      <Button variant="default" onClick={() => location.reload()} w="fit-content">
        {messages.shell.reload}
      </Button>
    </Stack>
  )
}

/** Error page that retries when the stream reconnects, or when Retry is clicked. */
function Unreachable({ refusal }: { refusal: ApiError }) {
  const router = useRouter()
  const { heardAt } = useLive()
  const before = useRef(heardAt)
  const [isAsking, ask] = useState(false)
  const again = useCallback(async () => {
    ask(true)
    await router.invalidate()
    ask(false)
  }, [router])
  useEffect(() => {
    if (heardAt !== before.current) void again()
  }, [heardAt, again])
  return (
    <>
      <PageHeader title={messages.shell.notLoaded} />
      <ErrorNotice refusal={refusal} retry={() => void again()} isAsking={isAsking} />
    </>
  )
}
