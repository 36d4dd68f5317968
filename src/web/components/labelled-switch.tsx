import { Switch, type SwitchProps } from '@mantine/core'

/** A switch with what it means below; it is called by its label alone, which for readers of screens holds both. */
export const LabelledSwitch = ({ label, ...rest }: SwitchProps & { label: string; description: string }) => (
  <Switch label={label} aria-label={label} {...rest} />
)
