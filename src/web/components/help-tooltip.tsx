import { Popover, Text, UnstyledButton } from '@mantine/core'
import { IconHelpCircle } from '@tabler/icons-react'
import { useId, useState } from 'react'
import { messages } from '../messages.ts'
import classes from './help-tooltip.module.css'

interface HelpProps {
  term: keyof typeof messages.help
  /** Text of the term; default: its name in the messages. */
  children?: string
  /** Shows a question mark instead of the text, next to a heading that is a button. */
  isIcon?: boolean
}

/** A term with an explanation on click, focus or hover. */
export function Help({ term, children, isIcon = false }: HelpProps) {
  const [isOpen, open] = useState(false)
  const id = useId()
  const known = messages.help[term]
  return (
    <Popover opened={isOpen} onChange={open} width={280} position="top" withArrow trapFocus={false} returnFocus={false}>
      <Popover.Target>
        <UnstyledButton
          className={`${isIcon ? classes.icon : classes.term} small-target`}
          aria-label={isIcon ? messages.components.about(children ?? known.term) : undefined}
          aria-describedby={isOpen ? id : undefined}
          onClick={() => open(true)}
          onFocus={() => open(true)}
          onBlur={() => open(false)}
          onMouseEnter={() => open(true)}
          onMouseLeave={({ currentTarget }) => document.activeElement !== currentTarget && open(false)}
        >
          {isIcon ? <IconHelpCircle size={16} aria-hidden /> : (children ?? known.term)}
        </UnstyledButton>
      </Popover.Target>
      <Popover.Dropdown role="tooltip" id={id} p="sm">
        <Text fz="sm">{known.sentence}</Text>
      </Popover.Dropdown>
    </Popover>
  )
}
