import { Anchor, Button, Stack, Text } from '@mantine/core'
import { type ErrorComponentProps, Link, useRouter } from '@tanstack/react-router'
import { useCallback, useEffect, useRef, useState } from 'react'
import { Refusal, sentenceOf } from '../api/refusal.ts'
import { messages } from '../messages.ts'
import { Data } from '../parts/data.tsx'
import { PageHead } from '../parts/page-head.tsx'
import { Refused } from '../parts/query-state.tsx'
import { useLive } from './live-dot.tsx'

/** An address that is no page. */
export function NotFound() {
  return (
    <>
      <PageHead title={messages.shell.notFound} />
      <Anchor component={Link} to="/">
        {messages.shell.toOverview}
      </Anchor>
    </>
  )
}

/** A page that threw while it was drawn, or whose code could not be loaded. */
export function Failed({ error }: ErrorComponentProps) {
  if (error instanceof Refusal) return <Unreachable refusal={error} />
  return (
    <Stack p="lg" role="alert" maw="72ch">
      <Text fz="md">{messages.shell.failed}</Text>
      <Text c="dimmed" fz="sm">
        <Data>{sentenceOf(error)}</Data>
      </Text>
      <Button variant="default" onClick={() => location.reload()} w="fit-content">
        {messages.shell.reload}
      </Button>
    </Stack>
  )
}

/** The page is loaded as soon as the server is heard again, or at a press. */
function Unreachable({ refusal }: { refusal: Refusal }) {
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
      <PageHead title={messages.shell.notLoaded} />
      <Refused refusal={refusal} retry={() => void again()} isAsking={isAsking} />
    </>
  )
}
