import { Type } from 'typebox'
import { closed } from './closed.ts'
import { int32, named, optional, uuidText, wordOf, type Of } from './fields.ts'
import { compileParser } from './validate.ts'

export const creativeTypes = ['IMAGE', 'HTML_IMAGE_LINK', 'HTML_VIDEO_LINK'] as const

export const creativeRequestSchema = closed(
  named('CreativeRequest', { creativeSizeId: int32({ minimum: 1 }), assetId: uuidText() })
)

export const displayAdGroupAssetResponseSchema = named('DisplayAdGroupAssetResponse', {
  creativeSizeId: optional(int32()),
  width: optional(int32()),
  height: optional(int32()),
  fileName: optional(Type.String()),
  assetId: optional(uuidText()),
  assetUrl: optional(Type.String()),
  advertised: optional(Type.Boolean()),
  altText: optional(Type.String()),
  backgroundColor: optional(Type.String()),
  callToAction: optional(Type.String()),
  adCopy: optional(Type.String()),
  type: optional(wordOf(creativeTypes)),
  link: optional(Type.String()),
})

export type CreativeRequest = Of<typeof creativeRequestSchema>
export type DisplayAdGroupAssetResponse = Of<typeof displayAdGroupAssetResponseSchema>

/** Shape only: whether the size and the asset exist and agree is for the catalog to say. */
export const parseCreativeRequest = compileParser(creativeRequestSchema)
