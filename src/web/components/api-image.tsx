import { Skeleton, Text } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { errorMessage } from '../api/api-error.ts'
import { send } from '../api/request.ts'
import { Data } from './data-text.tsx'

interface PictureProps {
  /** API path of a PNG. The request requires the credential, which an `img` element does not send. */
  path: string
  /** Alternative text. */
  name: string
  /** Height in pixels, reserved while the image loads. By default, the image has its own height. */
  height?: number
}

/** An image that requires authentication. */
export function ApiImage({ path, name, height }: PictureProps) {
  const { data, error } = useQuery({
    queryKey: [{ _id: 'picture', path: { path } }],
    queryFn: async ({ signal }) => {
      const response = await send({ method: 'GET', path }, { signal })
      return await addressOf(await response.blob())
    },
    staleTime: Number.POSITIVE_INFINITY,
  })
  if (error) {
    return (
      <Text c="dimmed" fz="sm">
        <Data>{errorMessage(error)}</Data>
      </Text>
    )
  }
  if (data === undefined) return <Skeleton h={height ?? 160} w={280} maw="100%" />
  const size = height === undefined ? {} : ({ height, objectFit: 'contain', alignSelf: 'flex-start' } as const)
  return <img src={data} alt={name} style={{ maxWidth: '100%', border: '1px solid var(--tw-border)', ...size }} />
}

/** Returns a `data:` URL; the content security policy does not allow `blob:` images. */
function addressOf(blob: Blob): Promise<string> {
  const reader = new FileReader()
  return new Promise((resolve, reject) => {
    reader.onload = () => resolve(String(reader.result))
    reader.onerror = () => reject(reader.error)
    reader.readAsDataURL(blob)
  })
}
