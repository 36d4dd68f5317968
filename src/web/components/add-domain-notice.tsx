import { Button, Stack, Text } from '@mantine/core'
import { Link } from '@tanstack/react-router'
import { useHasRole } from '../api/whoami.ts'
import { messages } from '../messages.ts'

/** Message of a page that shows nothing because there are no domains, with a link to add one. */
export function AddDomainNotice({ sentence }: { sentence: string }) {
  const may = useHasRole('admin')
  return (
    <Stack gap="sm" align="flex-start">
      <Text>{sentence}</Text>
      {may && (
        <Button component={Link} to="/domains/new">
          {messages.components.addDomain}
        </Button>
      )}
    </Stack>
  )
}
