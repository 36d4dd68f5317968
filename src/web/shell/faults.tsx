import { Anchor, Button, Stack, Text } from '@mantine/core'
import { type ErrorComponentProps, Link } from '@tanstack/react-router'
import { sentenceOf } from '../api/refusal.ts'
import { Data } from '../parts/data.tsx'
import { PageHead } from '../parts/page-head.tsx'
import { words } from '../words.ts'

/** An address that is no page. */
export function NotFound() {
  return (
    <>
      <PageHead title={words.shell.noSuchPage} />
      <Anchor component={Link} to="/">
        {words.shell.toOverview}
      </Anchor>
    </>
  )
}

/** A page that threw while it was drawn. */
export function Failed({ error }: ErrorComponentProps) {
  return (
    <Stack p="lg" role="alert" maw="72ch">
      <Text fz="md">{words.shell.failed}</Text>
      <Text c="dimmed" fz="sm">
        <Data>{sentenceOf(error)}</Data>
      </Text>
      <Button variant="default" onClick={() => location.reload()} w="fit-content">
        {words.shell.reload}
      </Button>
    </Stack>
  )
}
