interface Text {
  type?: string
  text?: string
}

interface AnyBlock {
  type: string
  text?: Text
  fields?: Text[]
  elements?: { type: string; text?: Text | string; value?: string; action_id?: string }[]
}

interface AnyMessage {
  text: string
  blocks: readonly unknown[]
  metadata: unknown
}

const lengthOf = (text: Text | undefined) => text?.text?.length ?? 0

/**
 * Returns the error code with which Slack would reject a message. Null if Slack would accept it. Sources: see
 * `render-message.ts`.
 */
export function faultOfMessage({ text, blocks, metadata }: AnyMessage): string | null {
  const all = blocks as AnyBlock[]
  if (text === '' && all.length === 0) return 'no_text'
  if (text.length > 40_000) return 'msg_too_long'
  if (all.length > 50 || all.some((block) => !isGood(block))) return 'invalid_blocks'
  // Slack counts more than the text in the blocks. The exact rule is not documented.
  if (JSON.stringify(all).length + 100 * all.length > 13_200) return 'msg_blocks_too_long'
  return metadata !== null && JSON.stringify(metadata).length > 16_384 ? 'metadata_too_large' : null
}

function isGood(block: AnyBlock): boolean {
  const { type, text, fields = [], elements = [] } = block
  switch (type) {
    case 'header':
      return text?.type === 'plain_text' && lengthOf(text) > 0 && lengthOf(text) <= 150
    case 'section':
      return (
        (text !== undefined || fields.length > 0) &&
        lengthOf(text) <= 3000 &&
        (text === undefined || lengthOf(text) > 0) &&
        fields.length <= 10 &&
        fields.every((field) => lengthOf(field) > 0 && lengthOf(field) <= 2000)
      )
    case 'context':
      return elements.length <= 10
    case 'actions':
      return (
        elements.length <= 25 &&
        elements.every(
          ({ text, value = '', action_id = '' }) =>
            lengthOf(text as Text) <= 75 && value.length <= 2000 && action_id.length <= 255,
        )
      )
    default:
      return false
  }
}
