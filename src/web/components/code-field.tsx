import { Button, Stack, Textarea } from '@mantine/core'
import type { ReactNode } from 'react'
import { notices } from '../state/notices.ts'
import { copyText } from './copy-text.ts'

interface CodeFieldProps {
  label: ReactNode
  description?: string
  code: string
  /** Label of the copy button. */
  copy: string
  /** Confirmation after copying. */
  copied: string
}

/** Code in a read-only field, with a copy button. */
export function CodeField({ label, description, code, copy, copied }: CodeFieldProps) {
  // Minified code is one line, which is only readable when it wraps.
  const whiteSpace = code.includes('\n') ? 'pre' : 'pre-wrap'
  return (
    <Stack gap="sm">
      <Textarea
        label={label}
        description={description}
        value={code}
        readOnly
        autosize
        maxRows={16}
        translate="no"
        spellCheck={false}
        styles={{ input: { fontFamily: 'var(--mantine-font-family-monospace)', whiteSpace } }}
        onFocus={({ target }) => target.select()}
      />
      <Button variant="default" w="fit-content" onClick={() => void copyText(code).then(() => notices.say(copied))}>
        {copy}
      </Button>
    </Stack>
  )
}
