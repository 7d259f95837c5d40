//! Cone-beam CT: the family [`fdk`], a member of purlin's workspace.
//!
//! The modules of `base` are imported under their own names, so that a path such as
//! `crate::tensor` is the same in every member.
//!
//! The crate `purlin` has this family as `purlin::fdk`, with its modules under the same names.
//!
//! An example: a ball, from its exact projections.
//!
//! ```
//! use purlin_base::context::{Context, Options as ContextOptions};
//! use purlin_base::scalar::DType;
//! use purlin_base::shape::Order::ColumnMajor;
//! use purlin_base::tensor::{Location, Tensor};
//! use purlin_fdk::fdk::geometry::{Detector, Geometry, Orbit};
//! use purlin_fdk::fdk::{Fdk, Options, Projections, Volume};
//!
//! let context = Context::new(ContextOptions::default())?;
//! // Lengths in mm, angles in radians.
//! let panel = Detector { columns: 48, rows: 48, column_pitch: 4.0, row_pitch: 4.0 };
//! let orbit = Orbit {
//!     source_to_axis: 500.0,
//!     source_to_detector: 1000.0,
//!     column_offset: 0.0,
//!     row_offset: 0.0,
//!     allow_inside_panel: false,
//! };
//! let angles: Vec<f64> = (0..90).map(|n| f64::from(n) * std::f64::consts::TAU / 90.0).collect();
//! let mut fdk = Fdk::new(&context, Geometry::circular(panel, &orbit, &angles)?, None, Options::default())?;
//!
//! // Exact projections of a ball of radius 30 and density 1, given as an ellipsoid.
//! let mut ball = Tensor::create(&context, DType::F64, Location::Host, ColumnMajor, &[8, 1])?;
//! ball.view_mut::<f64>("ball")?.data().copy_from_slice(&[1.0, 30.0, 30.0, 30.0, 0.0, 0.0, 0.0, 0.0]);
//! let mut projections = Tensor::create(&context, DType::F32, Location::Host, ColumnMajor, &[48, 48, 90])?;
//! fdk.ellipsoids(None, &ball, &mut projections)?;
//!
//! // Without a grid the voxels are cubes that match the panel, about the axis.
//! let mut volume = Tensor::create(&context, DType::F32, Location::Host, ColumnMajor, &[48, 48, 48])?;
//! fdk.reconstruct(None, Projections::Tensor(&projections), Volume::Tensor(&mut volume), None)?;
//! assert!((volume.view::<f32>("volume")?.get(&[24, 24, 24]) - 1.0).abs() < 0.05);
//! # Ok::<(), purlin_base::error::Error>(())
//! ```

#![deny(unsafe_code)]

use purlin_base::*;
use purlin_comm::group;

#[path = "mod.rs"]
pub mod fdk;
